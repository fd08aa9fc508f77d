// The label of a field with what the rules make of it, and its description as a hint.
import fieldStyles from "../parts/field.module.css";
import { text } from "../text/text.ts";
import type { FieldState } from "./field-states.ts";
import { isSmallCount } from "./number-range.ts";
import type { FormField } from "./operation-forms.ts";

type FieldLabelProps = {
  id: string;
  hintId: string;
  field: FormField;
  state: FieldState;
  value: unknown;
  model: string | undefined;
};

/** Widgets whose meaning is clear from their label and look. */
const WITHOUT_HINT = ["ratio", "image", "seed", "scopes"];

export function FieldLabel({ id, hintId, field, state, value, model = "" }: FieldLabelProps) {
  const { label, maxLength, isLong, description = "", isDeprecated } = field;
  const isPrompt = isLong && field.isRequired;
  const notes = [
    isDeprecated && text.form.deprecated,
    state.isUnused && text.form.unused(model),
    state.fixedValue !== undefined && text.form.fixed(model, String(state.fixedValue)),
    !isPrompt && !WITHOUT_HINT.includes(field.widget) && !isSmallCount(field) && description,
  ].filter(Boolean);
  return (
    <>
      <label className={fieldStyles.label} htmlFor={id}>
        {label}
        {field.marksRequired && <span className={fieldStyles.note}>{text.common.required}</span>}
        {!state.isRequired && field.default === undefined && field.widget !== "seed" && (
          <span className={fieldStyles.note}>{text.common.optional}</span>
        )}
        {isLong && maxLength && (
          <span className={fieldStyles.end} aria-hidden="true">
            {text.form.characters(String(value ?? "").length, maxLength)}
          </span>
        )}
      </label>
      <p id={hintId} className={notes.length > 0 ? fieldStyles.hint : "visually-hidden"}>
        {notes.length > 0 ? notes.join(" ") : description}
      </p>
    </>
  );
}
