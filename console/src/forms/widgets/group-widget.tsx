// Several fields that belong together, such as the limits of a key. A group without values is absent.
import { ListItem } from "./list-item.tsx";
import type { WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

export function GroupWidget({ id, field, value, errors, onChange, renderField }: WidgetProps) {
  const change = (next: unknown) => onChange(Object.keys(next as object).length === 0 ? undefined : next);
  return (
    <fieldset id={id} className={styles.group} aria-label={field.label} tabIndex={-1}>
      <ListItem
        id={id}
        fields={field.items ?? []}
        value={value}
        errors={errors}
        onChange={change}
        renderField={renderField}
      />
    </fieldset>
  );
}
