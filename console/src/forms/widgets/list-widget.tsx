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
  // An item that is cleared at the end is the empty place for the next one again.
  const isGone = (next: unknown, index: number) => next === undefined || (next === "" && index === items.length - 1);
  const replace = (index: number, next: unknown) =>
    onChange(isGone(next, index) ? items.toSpliced(index, 1) : items.toSpliced(index, 1, next));
  // The place for the next item is rendered like an item, so that its control keeps the focus when it becomes one.
  const count = items.length + (isSingle && !isFull ? 1 : 0);
  return (
    <div className={styles.list} id={id} tabIndex={-1}>
      {Array.from({ length: count }, (_, index) => (
        // Items have no identity of their own; their order is their meaning.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <div key={index} className={styles.listItem}>
          <ListItem
            id={`${id}-${index}`}
            fields={field.items ?? []}
            label={`${field.label} ${index + 1}`}
            value={items[index]}
            errors={errorsWithin(errors, String(index))}
            renderField={renderField}
            onChange={(next) => replace(index, next)}
          />
          {hasRemove && index < items.length && (
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
      {!isSingle && !isFull && (
        <Button kind="quiet" size="s" onClick={() => onChange([...items, {}])}>
          <Icon of={Plus} size="s" />
          {text.form.addItem}
        </Button>
      )}
    </div>
  );
}
