// The checks of the doctor, each with its result and what to do about a failure.
import type { SystemReport } from "@gesso/client";
import { CircleCheck, CircleMinus, CircleX, TriangleAlert } from "lucide-react";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./system-page.module.css";

const ICONS = { pass: CircleCheck, warn: TriangleAlert, fail: CircleX, skip: CircleMinus };
const words = text.system;

export function CheckList({ checks }: { checks: SystemReport["checks"] }) {
  return (
    <ul className={styles.checks}>
      {checks.map(({ name, status, message, fix }) => (
        <li key={`${name} ${message}`}>
          <span className={classNames(styles.mark, styles[status])}>
            <Icon of={ICONS[status as keyof typeof ICONS] ?? CircleMinus} size="s" />
            <span className="visually-hidden">{words.checkStatuses[status]}</span>
          </span>
          <span className={styles.checkName}>{words.checkNames[name] ?? name}</span>
          <span className={styles.message}>
            {message}
            {fix && <span className={styles.fix}>{fix}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
