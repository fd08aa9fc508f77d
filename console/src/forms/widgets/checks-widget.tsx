// Some of several known values, each with its own box.
import type { WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

export function ChecksWidget({ id, field, value, onChange }: WidgetProps) {
  const options = (field.options ?? []).map(String);
  const chosen = new Set(
    (Array.isArray(value) ? value : Array.isArray(field.default) ? field.default : []).map(String),
  );
  const toggle = (option: string) => {
    const next = new Set(chosen);
    if (!next.delete(option)) next.add(option);
    onChange(options.filter((each) => next.has(each)));
  };
  return (
    <fieldset id={id} className={styles.checks} aria-label={field.label} tabIndex={-1}>
      {options.map((option) => (
        <label key={option} className={styles.checkLine}>
          <input
            type="checkbox"
            className={styles.check}
            checked={chosen.has(option)}
            onChange={() => toggle(option)}
          />
          {option}
        </label>
      ))}
    </fieldset>
  );
}
