// What the user is about to run: an operation, the values of its form and, where the operation has a choice of models, up
// to three further models for the same values.
import { chosenModel } from "../forms/field-states.ts";
import { type FormValues, fingerprintOf, keepKnownValues } from "../forms/form-values.ts";
import type { OperationForm } from "../forms/operation-forms.ts";

export const MAX_MODELS = 4;

export type Draft = { form: OperationForm; values: FormValues; furtherModels: readonly string[] };

/** One request of a draft. `model` is absent for operations without a choice of models. */
export type DraftRequest = { operation: string; model: string | undefined; input: FormValues };

export function requestsOf({ form, values, furtherModels }: Draft): DraftRequest[] {
  const operation = form.name;
  const first = { operation, model: chosenModel(form, values), input: values };
  const field = form.fields.find(({ isModel }) => isModel);
  if (!field) return [first];
  return [first, ...furtherModels.map((model) => ({ operation, model, input: { ...values, [field.name]: model } }))];
}

/** The same draft for another operation: values of fields that it has too stay. */
export const changeOperation = ({ values }: Draft, form: OperationForm): Draft => ({
  form,
  values: keepKnownValues(
    values,
    form.fields.filter(({ isModel }) => !isModel).map(({ name }) => name),
  ),
  furtherModels: [],
});

export const fingerprintOfRequest = ({ operation, input }: DraftRequest): string => fingerprintOf({ operation, input });

/** Divides one cost cap among several runs: each gets its own price and an equal part of what is left. */
export function divideCap(cap: number, prices: readonly (number | null)[]): number[] {
  const isKnown = prices.every((price) => price !== null);
  const sum = prices.reduce<number>((total, price) => total + (price ?? 0), 0);
  return prices.map((price) => {
    const share = isKnown ? (price ?? 0) + Math.max(0, cap - sum) / prices.length : cap / prices.length;
    return Math.floor(share * 1e6) / 1e6;
  });
}
