// One of several values: side by side if they are few and short, else in a list.
import fieldStyles from "../../parts/field.module.css";
import { Segments } from "../../parts/segments.tsx";
import { text } from "../../text/text.ts";
import { asText, controlAttributes, type WidgetProps } from "./widget-props.ts";

const MAX_SEGMENTS = 4;
const MAX_SEGMENT_LETTERS = 32;

export function ChoiceWidget(props: WidgetProps) {
  const { field, state, value, onChange } = props;
  const options = state.options ?? field.options ?? [];
  const find = (id: string) => options.find((option) => String(option) === id);
  const letters = options.reduce<number>((sum, option) => sum + String(option).length, 0);
  if (options.length <= MAX_SEGMENTS && letters <= MAX_SEGMENT_LETTERS) {
    const shown = value ?? field.default;
    const isClearable = !state.isRequired && field.default === undefined;
    return (
      <Segments
        label={field.label}
        options={options.map((option) => ({ id: String(option), label: sayOption(option) }))}
        value={shown === undefined ? null : String(shown)}
        onChange={(id) => onChange(find(id))}
        onClear={isClearable ? () => onChange(undefined) : undefined}
        isFilling
      />
    );
  }
  const none = state.isRequired ? text.form.choose : text.form.chooseNone;
  const preset = field.default === undefined ? none : text.form.defaultValue(String(field.default));
  return (
    <select
      {...controlAttributes(props)}
      className={fieldStyles.input}
      value={asText(value)}
      onChange={(event) => onChange(find(event.target.value))}
    >
      <option value="">{preset}</option>
      {options.map((option) => (
        <option key={String(option)} value={String(option)}>
          {sayOption(option)}
        </option>
      ))}
    </select>
  );
}

const sayOption = (option: unknown): string =>
  typeof option === "boolean" ? text.form[option ? "on" : "off"] : String(option);
