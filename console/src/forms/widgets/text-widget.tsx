// A text: one line, several lines, or a secret that is never shown.
import fieldStyles from "../../parts/field.module.css";
import { asText, controlAttributes, type WidgetProps } from "./widget-props.ts";

export function TextWidget(props: WidgetProps) {
  const { field, value, onChange } = props;
  const attributes = {
    ...controlAttributes(props),
    value: asText(value),
    placeholder: asText(field.default),
  };
  if (field.isLong) {
    return (
      <textarea
        {...attributes}
        className={fieldStyles.area}
        rows={field.isRequired ? 4 : 2}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return (
    <input
      {...attributes}
      className={fieldStyles.input}
      type={field.isSecret ? "password" : "text"}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
