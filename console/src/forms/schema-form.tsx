// A form of an operation, generated from the contract: the fields that matter first, the others folded. Fields that the
// chosen model needs move up, fields that it does not use move down and say so.
import type { FieldError } from "@gesso/client";
import { type ReactNode, useMemo } from "react";
import { useStableCallback } from "../parts/use-stable-callback.ts";
import { text } from "../text/text.ts";
import type { FieldErrors } from "./field-errors.ts";
import { chosenModel, mergedFieldStates } from "./field-states.ts";
import { FoldedFields } from "./folded-fields.tsx";
import { FormField } from "./form-field.tsx";
import { type FormValues, setFormValue } from "./form-values.ts";
import { halfFields } from "./half-fields.ts";
import { MODELS, type OperationForm } from "./operation-forms.ts";
import { sectionsOf } from "./sections.ts";

type SchemaFormProps = {
  form: OperationForm;
  values: FormValues;
  /** The values of further requests that the form starts too, such as those of other models. */
  furtherInputs?: readonly FormValues[];
  errors: FieldErrors;
  /** Fields that the page edits itself, such as the model. */
  without?: readonly string[];
  /** Fields that matter now, although the contract folds them. */
  raised?: readonly string[];
  /** Buttons within fields, by the name of the field. */
  tools?: Readonly<Record<string, ReactNode>>;
  onChange(values: FormValues): void;
};

const fieldId = (form: OperationForm, name: string) => `${form.name}-${name}`;

const NO_INPUTS: readonly FormValues[] = [];
const NO_ERRORS: readonly FieldError[] = [];

export function SchemaForm({ form, values, errors, onChange, ...rest }: SchemaFormProps) {
  const { furtherInputs = NO_INPUTS, without = [], raised = [], tools = {} } = rest;
  const states = useMemo(
    () => mergedFieldStates({ form, models: MODELS }, [values, ...furtherInputs]),
    [form, values, furtherInputs],
  );
  const sections = sectionsOf(
    form.fields
      .filter(({ name }) => !without.includes(name))
      .map((field) => (raised.includes(field.name) ? { ...field, section: "main" as const } : field)),
    states,
  );
  const model = chosenModel(form, values);
  const changeField = useStableCallback((name: string, value: unknown) => onChange(setFormValue(values, name, value)));
  const render = (fields: OperationForm["fields"]) => {
    const halves = halfFields(fields);
    return fields.map((field) => (
      <FormField
        key={`${form.name} ${field.name}`}
        id={fieldId(form, field.name)}
        field={field}
        state={states.get(field.name) ?? { isRequired: false, isUnused: false }}
        value={values[field.name]}
        errors={errors.get(field.name) ?? NO_ERRORS}
        model={model}
        tools={tools[field.name]}
        isHalf={halves.has(field.name)}
        onChangeField={changeField}
      />
    ));
  };
  return (
    <>
      {render(sections.main)}
      <FoldedFields title={text.form.advanced} fields={sections.advanced} values={values} errors={errors}>
        {render(sections.advanced)}
      </FoldedFields>
      <FoldedFields title={text.form.request} fields={sections.request} values={values} errors={errors}>
        {render(sections.request)}
      </FoldedFields>
    </>
  );
}
