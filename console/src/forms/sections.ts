// Sorts the fields of a form into its sections. What the rules require is always visible; what the model does not use
// is folded, unless it is all that the section has.
import type { FieldState } from "./field-states.ts";
import type { FormField, Section } from "./operation-forms.ts";

export type Sections = Record<Section, readonly FormField[]>;

function sectionOf(field: FormField, state: FieldState | undefined): Section {
  if (state?.isRequired) return "main";
  if (state?.isUnused && field.section === "main") return "advanced";
  return field.section;
}

export function sectionsOf(fields: readonly FormField[], states: ReadonlyMap<string, FieldState>): Sections {
  const inSection = (section: Section) =>
    fields.filter((field) => sectionOf(field, states.get(field.name)) === section);
  return { main: inSection("main"), advanced: inSection("advanced"), request: inSection("request") };
}
