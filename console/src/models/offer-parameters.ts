// The parameters of an offer: required, used, adapted, then those that it ignores. Parameters that the model does not
// have at all are left out.
import type { CatalogueOffer, OfferParameter } from "@gesso/client";
import { type FieldState, fieldStates } from "../forms/field-states.ts";
import { findOperationForm, MODELS } from "../forms/operation-forms.ts";

export type ShownParameter = OfferParameter & { isRequired: boolean };

/** Every request has these. */
const ALWAYS = ["prompt", "images"];
const GENERATE = "image.generate";
/** Fields of images.generate that have another name than their parameter. */
const FIELD_NAMES: Record<string, string> = { count: "batch_size" };

/** What the rules of the contract say about the fields of images.generate with this model. */
function generateStates(model: string): ReadonlyMap<string, FieldState> {
  const form = findOperationForm("images.generate");
  const field = form.fields.find(({ isModel }) => isModel);
  return fieldStates({ form, values: field ? { [field.name]: model } : {}, models: MODELS });
}

export function listParameters(model: string, { task, parameters }: CatalogueOffer): ShownParameter[] {
  const isGenerate = task === GENERATE;
  const states = isGenerate ? generateStates(model) : new Map<string, FieldState>();
  const used = isGenerate ? MODELS[model]?.usedFields : undefined;
  const rank = ({ isRequired, state }: ShownParameter) =>
    isRequired ? 0 : ["honoured", "adapted", "unsupported", "excluded"].indexOf(state) + 1;
  return parameters
    .filter(({ name }) => !ALWAYS.includes(name) && (used?.includes(FIELD_NAMES[name] ?? name) ?? true))
    .map((parameter) => ({ ...parameter, isRequired: states.get(parameter.name)?.isRequired ?? false }))
    .toSorted((a, b) => rank(a) - rank(b));
}
