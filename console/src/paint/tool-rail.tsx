// The tools at the left, each with its key.
import {
  Brush,
  Contrast,
  Eraser,
  Eye,
  EyeOff,
  Hand,
  Lasso,
  type LucideIcon,
  PaintBucket,
  SquareDashed,
  Type,
} from "lucide-react";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { FIND_INPUT_ID } from "./find-section.tsx";
import { invertWholeMask } from "./mask-actions.ts";
import type { MaskDocument } from "./mask-document.ts";
import styles from "./tool-rail.module.css";
import type { ToolName } from "./tools.ts";
import type { Painting } from "./use-painting.ts";

const TOOL_BUTTONS: readonly { tool: ToolName; icon: LucideIcon; key: string }[] = [
  { tool: "brush", icon: Brush, key: "B" },
  { tool: "eraser", icon: Eraser, key: "E" },
  { tool: "lasso", icon: Lasso, key: "L" },
  { tool: "rectangle", icon: SquareDashed, key: "U" },
  { tool: "fill", icon: PaintBucket, key: "G" },
];

type ToolRailProps = { document: MaskDocument; painting: Painting };

export function ToolRail({ document, painting }: ToolRailProps) {
  const { tool, chooseTool, isMaskHidden, toggleMask } = painting;
  const words = text.paint.tools;
  const moveProps = { label: words.move, icon: Hand, shortcut: "H", isPressed: tool === "move" };
  return (
    <div className={styles.rail} role="toolbar" aria-label={words.label}>
      {TOOL_BUTTONS.map(({ tool: name, icon, key }) => (
        <RailButton
          key={name}
          label={words[name]}
          icon={icon}
          shortcut={key}
          isPressed={tool === name}
          onPress={() => chooseTool(name)}
        />
      ))}
      <hr />
      <RailButton label={words.find} icon={Type} shortcut="T" onPress={focusFindInput} />
      <RailButton {...moveProps} onPress={() => chooseTool("move")} />
      <hr />
      <RailButton label={words.invert} icon={Contrast} shortcut="I" onPress={() => invertWholeMask(document)} />
      <RailButton
        label={isMaskHidden ? words.show : words.hide}
        icon={isMaskHidden ? EyeOff : Eye}
        shortcut="\"
        onPress={toggleMask}
      />
    </div>
  );
}

export const focusFindInput = () => document.getElementById(FIND_INPUT_ID)?.focus();

type RailButtonProps = { label: string; icon: LucideIcon; shortcut: string; isPressed?: boolean; onPress(): void };

function RailButton({ label, icon, shortcut, isPressed, onPress }: RailButtonProps) {
  return (
    <button
      type="button"
      className={styles.tool}
      aria-label={label}
      aria-pressed={isPressed}
      aria-keyshortcuts={shortcut}
      title={`${label} (${shortcut})`}
      onClick={onPress}
    >
      <Icon of={icon} />
      <sub aria-hidden="true">{shortcut}</sub>
    </button>
  );
}
