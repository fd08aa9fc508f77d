// The state of a run: an icon, a word, then a colour.
import {
  CircleCheck,
  CircleDashed,
  CircleQuestionMark,
  CircleSlash,
  CircleX,
  LoaderCircle,
  type LucideIcon,
} from "lucide-react";
import { text } from "../text/text.ts";
import { classNames } from "./class-names.ts";
import { Icon } from "./icon.tsx";
import styles from "./run-state.module.css";
import { type RunStateName, runStateName } from "./run-states.ts";

const ICONS: Record<RunStateName, LucideIcon> = {
  queued: CircleDashed,
  processing: LoaderCircle,
  completed: CircleCheck,
  failed: CircleX,
  canceled: CircleSlash,
  unknown: CircleQuestionMark,
};

export function RunState({ status }: { status: string }) {
  const name = runStateName(status);
  return (
    <span className={classNames(styles.state, styles[name])}>
      <Icon of={ICONS[name]} size="s" />
      {text.run.states[name]}
    </span>
  );
}
