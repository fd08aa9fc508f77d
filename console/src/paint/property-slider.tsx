// A number with a slider: name, slider, and the number to type.
import { useId } from "react";
import widgetStyles from "../forms/widgets/widgets.module.css";
import { classNames } from "../parts/class-names.ts";
import { cssVariables } from "../parts/css-variables.ts";
import fieldStyles from "../parts/field.module.css";
import styles from "./panel.module.css";

type PropertySliderProps = {
  label: string;
  unit: string;
  value: number;
  minimum: number;
  maximum: number;
  /** The end of the slider, if most values are small. The field takes more. */
  sliderMaximum?: number;
  onChange(value: number): void;
};

export function PropertySlider({ label, unit, value, minimum, maximum, onChange, ...rest }: PropertySliderProps) {
  const id = useId();
  const most = rest.sliderMaximum ?? maximum;
  const share = ((Math.min(value, most) - minimum) / (most - minimum)) * 100;
  const change = (given: string) => {
    const next = Number(given);
    if (given !== "" && Number.isFinite(next)) onChange(Math.min(maximum, Math.max(minimum, Math.round(next))));
  };
  return (
    <div className={styles.property}>
      <label htmlFor={id}>{label}</label>
      <input
        type="range"
        className={widgetStyles.slider}
        aria-label={label}
        aria-valuetext={`${value} ${unit}`}
        min={minimum}
        max={most}
        ref={cssVariables({ "--v": `${share}%` })}
        value={Math.min(value, most)}
        onChange={({ target }) => change(target.value)}
      />
      <span className={styles.unit} data-unit={unit}>
        <input
          id={id}
          type="number"
          inputMode="numeric"
          className={classNames(fieldStyles.input, styles.number)}
          min={minimum}
          max={maximum}
          value={value}
          onChange={({ target }) => change(target.value)}
        />
      </span>
    </div>
  );
}
