// A time, in the reader's time zone.
import fieldStyles from "../../parts/field.module.css";
import { fromLocalInput, toLocalInput } from "../local-time.ts";
import { controlAttributes, type WidgetProps } from "./widget-props.ts";

export function TimeWidget(props: WidgetProps) {
  const { value, onChange } = props;
  return (
    <input
      {...controlAttributes(props)}
      type="datetime-local"
      className={fieldStyles.input}
      value={toLocalInput(value)}
      onChange={(event) => onChange(fromLocalInput(event.target.value))}
    />
  );
}
