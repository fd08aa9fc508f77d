// What an edited form changes of a custom model. Fields that were emptied become null.
import type { Model, ModelsUpdateInput } from "@gesso/client";
import type { FormValues } from "../forms/form-values.ts";

export function modelChanges(model: Model, values: FormValues, fields: readonly string[]): ModelsUpdateInput {
  const before: Record<string, unknown> = model;
  const changed = fields.filter((field) => (values[field] ?? null) !== (before[field] ?? null));
  return Object.fromEntries(changed.map((field) => [field, values[field] ?? null]));
}

/** The values of the form before it is edited. */
export const modelValues = (model: Model, fields: readonly string[]): FormValues =>
  Object.fromEntries(
    Object.entries(model).filter(([field, value]) => fields.includes(field) && value !== null && value !== ""),
  );
