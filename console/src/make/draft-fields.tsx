// The models and the generated fields of a draft.
import type { FieldErrors } from "../forms/field-errors.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import type { Draft } from "./draft.ts";
import { ModelChoice } from "./model-choice.tsx";

type DraftFieldsProps = { draft: Draft; errors: FieldErrors; onChange(draft: Draft): void };

export function DraftFields({ draft, errors, onChange }: DraftFieldsProps) {
  const { form, values } = draft;
  const modelField = form.fields.find(({ isModel }) => isModel);
  return (
    <>
      {modelField && <ModelChoice draft={draft} field={modelField} onChange={onChange} />}
      <SchemaForm
        form={form}
        values={values}
        errors={errors}
        without={modelField ? [modelField.name] : []}
        onChange={(next) => onChange({ ...draft, values: next })}
      />
    </>
  );
}
