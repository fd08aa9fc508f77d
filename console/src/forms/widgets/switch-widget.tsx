// A switch. Setting it back to the default removes the value, so the request has only what the user changed.
import { controlAttributes, type WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

export function SwitchWidget(props: WidgetProps) {
  const { field, value, onChange } = props;
  const preset = field.default === true;
  const isOn = value === undefined ? preset : value === true;
  return (
    <input
      {...controlAttributes(props)}
      type="checkbox"
      role="switch"
      aria-checked={isOn}
      className={styles.switch}
      checked={isOn}
      onChange={({ target: { checked } }) => onChange(checked === preset ? undefined : checked)}
    />
  );
}
