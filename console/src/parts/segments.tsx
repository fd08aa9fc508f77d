// One choice of few, side by side. Arrow keys move between the choices.
import type { LucideIcon } from "lucide-react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { classNames } from "./class-names.ts";
import { Icon } from "./icon.tsx";
import styles from "./segments.module.css";

type SegmentsProps = {
  label: string;
  options: readonly { id: string; label: string; icon?: LucideIcon }[];
  /** The chosen ID; null if none is chosen. */
  value: string | null;
  onChange(id: string): void;
  /** Pressing the chosen one again takes the choice back, where that is possible. */
  onClear?: (() => void) | undefined;
  isSmall?: boolean;
  isFilling?: boolean;
  isDisabled?: boolean;
};

export function Segments({ label, options, value, onChange, isSmall, isFilling, ...rest }: SegmentsProps) {
  const { isDisabled = false, onClear } = rest;
  return (
    <ToggleButtonGroup
      aria-label={label}
      className={classNames(styles.group, isSmall && styles.small, isFilling && styles.filling)}
      selectionMode="single"
      disallowEmptySelection={value !== null && !onClear}
      selectedKeys={value === null ? [] : [value]}
      onSelectionChange={(keys) => {
        const [chosen] = keys;
        if (chosen !== undefined) onChange(String(chosen));
        else onClear?.();
      }}
      isDisabled={isDisabled}
    >
      {options.map((option) => (
        <ToggleButton key={option.id} id={option.id} className={styles.segment ?? ""}>
          {option.icon && <Icon of={option.icon} size="s" />}
          {option.label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
