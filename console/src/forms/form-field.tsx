// A field of a form that is rendered anew only if something about it has changed: forms have up to forty fields, and a
// letter in one of them must not cost the time of all.
import { memo, useCallback } from "react";
import { SchemaField } from "./schema-field.tsx";
import type { FieldProps } from "./widgets/widget-props.ts";

type FormFieldProps = Omit<FieldProps, "onChange"> & {
  /** Must stay the same between renders. */
  onChangeField(name: string, value: unknown): void;
};

export const FormField = memo(function FormField({ onChangeField, ...props }: FormFieldProps) {
  const { name } = props.field;
  const onChange = useCallback((value: unknown) => onChangeField(name, value), [onChangeField, name]);
  return <SchemaField {...props} onChange={onChange} />;
}, areSameFields);

/** The ID stands for the field. Its state is computed for every value anew, so its parts are compared. */
function areSameFields(before: FormFieldProps, after: FormFieldProps): boolean {
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
