// A form of an operation, generated from the contract: the fields that matter first, the others folded. Fields that the
// chosen model needs move up, fields that it does not use move down and say so.
import type { FieldError } from "@gesso/client";
import { memo, type ReactNode, useCallback, useMemo } from "react";
import { useStableCallback } from "../parts/use-stable-callback.ts";
import { text } from "../text/text.ts";
import type { FieldErrors } from "./field-errors.ts";
import { chosenModel, mergedFieldStates } from "./field-states.ts";
import { FoldedFields } from "./folded-fields.tsx";
import { type FormValues, setFormValue } from "./form-values.ts";
import { halfFields } from "./half-fields.ts";
import { MODELS, type OperationForm } from "./operation-forms.ts";
import { SchemaField } from "./schema-field.tsx";
import { sectionsOf } from "./sections.ts";
import type { FieldProps } from "./widgets/widget-props.ts";

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
      <MemoField
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

type MemoFieldProps = Omit<FieldProps, "onChange"> & {
  /** Must stay the same between renders. */
  onChangeField(name: string, value: unknown): void;
};

/**
 * A field of a form that is rendered anew only if something about it has changed: forms have up to forty fields, and
 * a letter in one of them must not cost the time of all.
 */
const MemoField = memo(function MemoField({ onChangeField, ...props }: MemoFieldProps) {
  const { name } = props.field;
  const onChange = useCallback((value: unknown) => onChangeField(name, value), [onChangeField, name]);
  return <SchemaField {...props} onChange={onChange} />;
}, areSameFields);

/** The ID stands for the field. Its state is computed for every value anew, so its parts are compared. */
function areSameFields(before: MemoFieldProps, after: MemoFieldProps): boolean {
  const { field: _, state, ...rest } = before;
  const { field: __, state: nextState, ...nextRest } = after;
  return hasSameEntries(rest, nextRest) && hasSameEntries(state, nextState);
}

function hasSameEntries(one: object, other: object): boolean {
  const [names, others] = [Object.keys(one), Object.keys(other)];
  const entries = other as Record<string, unknown>;
  return (
    names.length === others.length && Object.entries(one).every(([name, value]) => Object.is(value, entries[name]))
  );
}
