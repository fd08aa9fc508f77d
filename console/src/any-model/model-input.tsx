// The fields of an imported model in its own order, optional ones folded if there are many. Errors about fields that
// the form does not show, such as those of an earlier version of the model, stand above them.
import type { FieldError } from "@gesso/client";
import type { ReactNode } from "react";
import { type FieldErrors, parsePointer } from "../forms/field-errors.ts";
import { FoldedFields } from "../forms/folded-fields.tsx";
import type { FormValues } from "../forms/form-values.ts";
import { halfFields } from "../forms/half-fields.ts";
import type { FormField } from "../forms/operation-forms.ts";
import { SchemaField } from "../forms/schema-field.tsx";
import fieldStyles from "../parts/field.module.css";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import { setModelValue, splitFields } from "./model-values.ts";

const words = text.anyModel;

type ModelInputProps = {
  fields: readonly FormField[];
  values: FormValues;
  errors: FieldErrors;
  tools: Readonly<Record<string, ReactNode>>;
  onChange(values: FormValues): void;
};

export function ModelInput({ fields, values, errors, tools, onChange }: ModelInputProps) {
  const { main, folded } = splitFields(fields);
  const others = [...errors].filter(([name]) => fields.every((field) => field.name !== name)).flatMap(([, own]) => own);
  const render = (some: readonly FormField[]) => {
    const halves = halfFields(some);
    return some.map((field) => (
      <SchemaField
        key={field.name}
        id={`input-${field.name}`}
        field={field}
        state={{ isRequired: field.isRequired ?? false, isUnused: false }}
        value={values[field.name]}
        errors={errors.get(field.name) ?? []}
        tools={field.isLong ? tools[field.name] : undefined}
        isHalf={halves.has(field.name)}
        onChange={(value) => onChange(setModelValue(values, field, value))}
      />
    ));
  };
  return (
    <>
      {others.length > 0 && (
        <Notice kind="bad" title={words.otherErrors}>
          {others.map(sayOther).join(" ")}
        </Notice>
      )}
      {fields.length === 0 && <p className={fieldStyles.hint}>{words.noParameters}</p>}
      {render(main)}
      <FoldedFields title={words.moreParameters} fields={folded} values={values} errors={errors}>
        {render(folded)}
      </FoldedFields>
    </>
  );
}

const sayOther = ({ path, message }: FieldError) => [parsePointer(path).join("."), message].filter(Boolean).join(": ");
