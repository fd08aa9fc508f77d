// One item of a list: a single widget, or one widget for each field of a group.
import { Fragment } from "react";
import { errorsWithin } from "../field-errors.ts";
import { type FormValues, setFormValue } from "../form-values.ts";
import type { FormField } from "../operation-forms.ts";
import type { FieldProps, WidgetProps } from "./widget-props.ts";

type ListItemProps = Pick<FieldProps, "id" | "value" | "errors" | "onChange"> &
  Pick<WidgetProps, "renderField"> & {
    fields: readonly FormField[];
    /** Names the control of a single value, which has no label. */
    label: string;
  };

export function ListItem({ id, fields, label, value, errors, onChange, renderField }: ListItemProps) {
  const [single] = fields;
  if (single?.name === "") {
    const state = { isRequired: false, isUnused: false };
    return renderField({ id, field: { ...single, label }, state, value, errors, isBare: true, onChange });
  }
  const values = (typeof value === "object" && value !== null ? value : {}) as FormValues;
  return fields.map((field) => (
    <Fragment key={field.name}>
      {renderField({
        id: `${id}-${field.name}`,
        field,
        state: { isRequired: field.isRequired ?? false, isUnused: false },
        value: values[field.name],
        errors: errorsWithin(errors, field.name),
        onChange: (next) => onChange(setFormValue(values, field.name, next)),
      })}
    </Fragment>
  ));
}
