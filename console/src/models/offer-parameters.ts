// The parameters of an offer in the order of a person's interest: required, used, adapted, then those that it ignores.
import type { CatalogueOffer, OfferParameter } from "@gesso/client";
import { type FieldState, fieldStates } from "../forms/field-states.ts";
import { findOperationForm, MODELS } from "../forms/operation-forms.ts";

export type ShownParameter = OfferParameter & { isRequired: boolean };

/** Every request has these. */
const ALWAYS = ["prompt", "images"];
const GENERATE = "image.generate";

/** What the rules of the contract say about the fields of images.generate with this model. */
function generateStates(model: string): ReadonlyMap<string, FieldState> {
  const form = findOperationForm("images.generate");
  const field = form.fields.find(({ isModel }) => isModel);
  return fieldStates({ form, values: field ? { [field.name]: model } : {}, models: MODELS });
}

export function listParameters(model: string, { task, parameters }: CatalogueOffer): ShownParameter[] {
  const states = task === GENERATE ? generateStates(model) : new Map<string, FieldState>();
  const rank = ({ isRequired, state }: ShownParameter) =>
    isRequired ? 0 : ["honoured", "adapted", "unsupported", "excluded"].indexOf(state) + 1;
  return parameters
    .filter(({ name }) => !ALWAYS.includes(name))
    .map((parameter) => {
      const { isRequired = false, isUnused = false } = states.get(parameter.name) ?? {};
      return { ...parameter, isRequired, ...(isUnused && { state: "unsupported" as const }) };
    })
    .toSorted((a, b) => rank(a) - rank(b));
}
