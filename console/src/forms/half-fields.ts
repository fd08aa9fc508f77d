// Which fields of a form stand side by side: short ones that follow each other.
import { hasSlider, isSmallCount } from "./number-range.ts";
import type { FormField } from "./operation-forms.ts";

const isShort = (field: FormField): boolean =>
  field.widget === "seed" || (field.widget === "number" && (isSmallCount(field) || !hasSlider(field)));

/** The names of the fields that share their row with another one, in pairs. */
export function halfFields(fields: readonly FormField[]): ReadonlySet<string> {
  const halves = new Set<string>();
  for (const [index, field] of fields.entries()) {
    const next = fields[index + 1];
    if (next && isShort(field) && isShort(next) && !halves.has(field.name)) halves.add(field.name).add(next.name);
  }
  return halves;
}
