// An aspect ratio, chosen by its shape. Pressing the chosen one again removes it. Where the contract takes any ratio,
// it can also be written.
import { cssVariables } from "../../parts/css-variables.ts";
import fieldStyles from "../../parts/field.module.css";
import { COMMON_RATIOS, ratioShape } from "./ratio-shape.ts";
import { asText, controlAttributes, type WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

export function RatioWidget(props: WidgetProps) {
  const { field, state, value, onChange } = props;
  const known = state.options ?? field.options;
  const ratios = (known ?? COMMON_RATIOS).map(String);
  return (
    <>
      <fieldset className={styles.ratios} aria-label={field.label}>
        {ratios.map((ratio) => {
          const { width, height } = ratioShape(ratio);
          return (
            <button
              key={ratio}
              type="button"
              className={styles.ratio}
              aria-pressed={value === ratio}
              onClick={() => onChange(value === ratio ? undefined : ratio)}
            >
              <i ref={cssVariables({ "--w": `${width}px`, "--h": `${height}px` })} />
              {ratio}
            </button>
          );
        })}
      </fieldset>
      {!known && (
        <input
          {...controlAttributes(props)}
          className={fieldStyles.input}
          value={asText(value)}
          placeholder="5:4"
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </>
  );
}
