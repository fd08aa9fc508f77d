// Widgets that are one control: a text, a switch, a seed, a JSON object, checks, a group of fields, and a time.
import { Dice5 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import fieldStyles from "../../parts/field.module.css";
import { Icon } from "../../parts/icon.tsx";
import { text } from "../../text/text.ts";
import { drawSeed } from "../draw-seed.ts";
import { parseJson, parseJsonObject } from "../json-text.ts";
import { fromLocalInput, toLocalInput } from "../local-time.ts";
import { parseNumber } from "../number-range.ts";
import { ListItem } from "./list-item.tsx";
import { asText, controlAttributes, placeholderOf, type WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

export function TextWidget(props: WidgetProps) {
  const { field, value, onChange } = props;
  const attributes = {
    ...controlAttributes(props),
    value: asText(value),
    placeholder: placeholderOf(field),
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

/** A switch. Setting it back to the default removes the value, so the request has only what the user changed. */
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

/** A seed: empty for a random one, or a number that the dice can draw. */
export function SeedWidget(props: WidgetProps) {
  const { value, onChange } = props;
  return (
    <div className={fieldStyles.row}>
      <input
        {...controlAttributes(props)}
        className={fieldStyles.input}
        inputMode="numeric"
        placeholder={text.form.random}
        value={asText(value)}
        onChange={(event) => onChange(parseNumber(event.target.value.replaceAll(/\D/g, "")))}
      />
      <Button isIconOnly label={text.form.newSeed} onClick={() => onChange(drawSeed())}>
        <Icon of={Dice5} />
      </Button>
    </div>
  );
}

/** JSON as text. The value changes when the text is valid; half-typed text keeps the last valid value. */
export function JsonWidget(props: WidgetProps) {
  const { field, value, onChange } = props;
  const parse = field.isAnyJson ? parseJson : parseJsonObject;
  const [draft, setDraft] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const isInvalid = draft.trim() !== "" && parse(draft) === undefined;
  const change = (next: string) => {
    setDraft(next);
    const parsed = parse(next);
    if (parsed !== undefined || next.trim() === "") onChange(parsed);
  };
  return (
    <>
      <textarea
        {...controlAttributes(props)}
        {...(isInvalid && { "aria-invalid": true })}
        className={`${fieldStyles.area} ${fieldStyles.code}`}
        rows={3}
        spellCheck={false}
        value={draft}
        placeholder={placeholderOf(field) || (field.isAnyJson ? text.form.json : "")}
        onChange={(event) => change(event.target.value)}
      />
      {isInvalid && (
        <p className={fieldStyles.error}>{field.isAnyJson ? text.form.anyJsonInvalid : text.form.jsonInvalid}</p>
      )}
    </>
  );
}

/** Some of several known values, each with its own box. */
export function ChecksWidget({ id, field, value, onChange }: WidgetProps) {
  const options = (field.options ?? []).map(String);
  const chosen = new Set(
    (Array.isArray(value) ? value : Array.isArray(field.default) ? field.default : []).map(String),
  );
  const toggle = (option: string) => {
    const next = new Set(chosen);
    if (!next.delete(option)) next.add(option);
    onChange(options.filter((each) => next.has(each)));
  };
  return (
    <fieldset id={id} className={styles.checks} aria-label={field.label} tabIndex={-1}>
      {options.map((option) => (
        <label key={option} className={styles.checkLine}>
          <input
            type="checkbox"
            className={styles.check}
            checked={chosen.has(option)}
            onChange={() => toggle(option)}
          />
          {option}
        </label>
      ))}
    </fieldset>
  );
}

/** Several fields that belong together, such as the limits of a key. A group without values is absent. */
export function GroupWidget({ id, field, value, errors, onChange, renderField }: WidgetProps) {
  const change = (next: unknown) => onChange(Object.keys(next as object).length === 0 ? undefined : next);
  return (
    <fieldset id={id} className={styles.group} aria-label={field.label} tabIndex={-1}>
      <ListItem
        id={id}
        fields={field.items ?? []}
        label={field.label}
        value={value}
        errors={errors}
        onChange={change}
        renderField={renderField}
      />
    </fieldset>
  );
}

/** A time, in the reader's time zone. */
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
