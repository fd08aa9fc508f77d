// A value of a list, or an object with fields of its own, such as a size by name or by width and height.
import { useState } from "react";
import fieldStyles from "../../parts/field.module.css";
import { text } from "../../text/text.ts";
import { GroupWidget } from "./plain-widgets.tsx";
import { asText, controlAttributes, type WidgetProps } from "./widget-props.ts";

const NONE = "";
/** Stands for the object. Options are numbered, so none has this value. */
const OWN = "own";

export function UnionWidget(props: WidgetProps) {
  const { id, field, state, value, onChange } = props;
  const options = field.options ?? [];
  const isObject = typeof value === "object" && value !== null;
  const [isOwn, setIsOwn] = useState(isObject);
  const isGroup = isObject || (isOwn && value === undefined);
  const chosen = isGroup ? OWN : value === undefined ? NONE : String(options.indexOf(value));
  const preset = sayPreset(field.default);
  const none = preset !== "" ? text.form.defaultValue(preset) : state.isRequired ? text.form.choose : undefined;
  const choose = (key: string) => {
    setIsOwn(key === OWN);
    onChange(key === OWN || key === NONE ? undefined : options[Number(key)]);
  };
  return (
    <>
      <select
        {...controlAttributes(props)}
        className={fieldStyles.input}
        value={chosen}
        onChange={(event) => choose(event.target.value)}
      >
        <option value={NONE}>{none ?? text.form.chooseNone}</option>
        {options.map((option, index) => (
          <option key={String(option)} value={index}>
            {String(option)}
          </option>
        ))}
        <option value={OWN}>{text.form.ownValue}</option>
      </select>
      {isGroup && <GroupWidget {...props} id={`${id}-own`} />}
    </>
  );
}

const sayPreset = (preset: unknown): string =>
  typeof preset === "object" && preset !== null
    ? Object.entries(preset)
        .map(([name, value]) => `${name} ${asText(value)}`)
        .join(", ")
    : asText(preset);
