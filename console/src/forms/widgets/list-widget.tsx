// A list of values, or of groups of values: each item with the widgets of its fields, up to the largest number of
// items.
import { Plus, X } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { text } from "../../text/text.ts";
import { errorsWithin } from "../field-errors.ts";
import { ListItem } from "./list-item.tsx";
import type { WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

export function ListWidget(props: WidgetProps) {
  const { field, state, value, onChange, errors, id, renderField } = props;
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  const isFull = items.length >= (state.maxItems ?? field.maxItems ?? Number.POSITIVE_INFINITY);
  const isSingle = field.items?.[0]?.name === "";
  // An image has its own button to remove it.
  const hasRemove = field.items?.[0]?.widget !== "image" || !isSingle;
  const replace = (index: number, next: unknown) =>
    onChange(items.flatMap((each, other) => (other === index ? (next === undefined ? [] : [next]) : [each])));
  return (
    <div className={styles.list} id={id} tabIndex={-1}>
      {items.map((item, index) => (
        // Items have no identity of their own; their order is their meaning.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <div key={index} className={styles.listItem}>
          <ListItem
            id={`${id}-${index}`}
            fields={field.items ?? []}
            value={item}
            errors={errorsWithin(errors, String(index))}
            renderField={renderField}
            onChange={(next) => replace(index, next)}
          />
          {hasRemove && (
            <Button
              kind="quiet"
              size="s"
              isIconOnly
              label={text.form.removeItem(index)}
              onClick={() => replace(index, undefined)}
            >
              <Icon of={X} size="s" />
            </Button>
          )}
        </div>
      ))}
      {isSingle && !isFull && (
        <ListItem
          key={items.length}
          id={`${id}-new`}
          fields={field.items ?? []}
          value={undefined}
          errors={[]}
          renderField={renderField}
          onChange={(next) => next !== undefined && onChange([...items, next])}
        />
      )}
      {!isSingle && !isFull && (
        <Button kind="quiet" size="s" onClick={() => onChange([...items, {}])}>
          <Icon of={Plus} size="s" />
          {text.form.addItem}
        </Button>
      )}
    </div>
  );
}
