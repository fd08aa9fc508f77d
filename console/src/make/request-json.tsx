// The values of the form as JSON, for those who paste a request. Valid text changes the form at once.
import { useId, useState } from "react";
import { parseJsonObject } from "../forms/json-text.ts";
import { classNames } from "../parts/class-names.ts";
import fieldStyles from "../parts/field.module.css";
import { text } from "../text/text.ts";
import type { Draft } from "./draft.ts";

type RequestJsonProps = { draft: Draft; onChange(draft: Draft): void };

export function RequestJson({ draft, onChange }: RequestJsonProps) {
  const id = useId();
  const [words, setWords] = useState(() => JSON.stringify(draft.values, null, 2));
  const isInvalid = parseJsonObject(words) === undefined;
  return (
    <div className={fieldStyles.field}>
      <label className={fieldStyles.label} htmlFor={id}>
        {text.form.json}
      </label>
      <textarea
        id={id}
        className={classNames(fieldStyles.area, fieldStyles.code)}
        rows={16}
        spellCheck={false}
        value={words}
        aria-invalid={isInvalid}
        onChange={({ target }) => {
          setWords(target.value);
          const values = parseJsonObject(target.value);
          if (values) onChange({ ...draft, values });
        }}
      />
      {isInvalid && <p className={fieldStyles.error}>{text.form.jsonInvalid}</p>}
    </div>
  );
}
