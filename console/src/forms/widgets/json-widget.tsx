// A JSON object, as text. The value changes when the text is valid; a half-typed object keeps the last valid one.
import { useState } from "react";
import fieldStyles from "../../parts/field.module.css";
import { text } from "../../text/text.ts";
import { parseJsonObject } from "../json-text.ts";
import { controlAttributes, type WidgetProps } from "./widget-props.ts";

export function JsonWidget(props: WidgetProps) {
  const { value, onChange } = props;
  const [draft, setDraft] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const isInvalid = draft.trim() !== "" && parseJsonObject(draft) === undefined;
  const change = (next: string) => {
    setDraft(next);
    const parsed = parseJsonObject(next);
    if (parsed || next.trim() === "") onChange(parsed);
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
        onChange={(event) => change(event.target.value)}
      />
      {isInvalid && <p className={fieldStyles.error}>{text.form.jsonInvalid}</p>}
    </>
  );
}
