// The fields of an operation that manages something: those that it requires first, the others folded.
import { text } from "../text/text.ts";
import type { FieldErrors } from "./field-errors.ts";
import { FoldedFields } from "./folded-fields.tsx";
import { type FormValues, setFormValue } from "./form-values.ts";
import { findManagementForm, type ManagementOperation } from "./management-forms.ts";
import type { FormField } from "./operation-forms.ts";
import { SchemaField } from "./schema-field.tsx";

type ManagementFieldsProps = {
  operation: ManagementOperation;
  values: FormValues;
  errors: FieldErrors;
  /** Fields that the page sets itself. */
  without?: readonly string[];
  /** Whether optional fields are visible at once, for forms with few of them. */
  isUnfolded?: boolean;
  onChange(values: FormValues): void;
};

export function ManagementFields(props: ManagementFieldsProps) {
  const { operation, values, errors, without = [], isUnfolded = false, onChange } = props;
  const fields = findManagementForm(operation).fields.filter(({ name }) => !without.includes(name));
  const isMain = (field: FormField) => field.isRequired === true || isUnfolded;
  const render = (some: readonly FormField[]) =>
    some.map((field) => (
      <SchemaField
        key={field.name}
        id={`${operation}-${field.name}`}
        field={field}
        state={{ isRequired: field.isRequired ?? false, isUnused: false }}
        value={values[field.name]}
        errors={errors.get(field.name) ?? []}
        onChange={(value) => onChange(setFormValue(values, field.name, value))}
      />
    ));
  const folded = fields.filter((field) => !isMain(field));
  return (
    <>
      {render(fields.filter(isMain))}
      <FoldedFields title={text.form.advanced} fields={folded} values={values} errors={errors}>
        {render(folded)}
      </FoldedFields>
    </>
  );
}
