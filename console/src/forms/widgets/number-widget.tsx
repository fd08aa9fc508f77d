// A number: a choice where it has at most four values, and a slider beside the input where its bounds are close.
import { cssVariables } from "../../parts/css-variables.ts";
import fieldStyles from "../../parts/field.module.css";
import { Segments } from "../../parts/segments.tsx";
import { hasSlider, isSmallCount, parseNumber, stepOf } from "../number-range.ts";
import { asText, controlAttributes, placeholderOf, type WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

export function NumberWidget(props: WidgetProps) {
  const { field, state, value, onChange } = props;
  if (isSmallCount(field)) return <CountWidget {...props} />;
  const { minimum, maximum } = field;
  const shown = state.fixedValue ?? value;
  const bounds = { min: minimum, max: maximum, step: stepOf(field), disabled: state.fixedValue !== undefined };
  const input = (
    <input
      {...controlAttributes(props)}
      {...bounds}
      type="number"
      inputMode={field.isInteger ? "numeric" : "decimal"}
      className={fieldStyles.input}
      value={asText(shown)}
      placeholder={placeholderOf(field)}
      onChange={(event) => onChange(parseNumber(event.target.value))}
    />
  );
  if (!hasSlider(field)) return input;
  const current = Number(shown ?? field.default);
  const share = ((current - (minimum ?? 0)) / ((maximum ?? 1) - (minimum ?? 0))) * 100;
  return (
    <div className={styles.sliderRow}>
      <input
        {...bounds}
        type="range"
        aria-label={field.label}
        className={styles.slider}
        ref={cssVariables({ "--v": `${share}%` })}
        value={current}
        onChange={(event) => onChange(Number(event.target.value))}
      />
      {input}
    </div>
  );
}

function CountWidget({ field, state, value, onChange }: WidgetProps) {
  const { minimum = 1, maximum = 1 } = field;
  const counts = Array.from({ length: maximum - minimum + 1 }, (_, index) => minimum + index);
  const shown = state.fixedValue ?? value ?? field.default;
  return (
    <Segments
      label={field.label}
      options={counts.map((count) => ({ id: String(count), label: String(count) }))}
      value={shown === undefined ? null : String(shown)}
      onChange={(id) => onChange(Number(id) === field.default ? undefined : Number(id))}
      isFilling
      isDisabled={state.fixedValue !== undefined}
    />
  );
}
