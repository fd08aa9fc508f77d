// What the user is about to run: an operation, the values of its form and, where the operation has a choice of models,
// up to three further models for the same values.
import { modelNameOf } from "../any-model/input-of.ts";
import { chosenModel } from "../forms/field-states.ts";
import { type FormValues, fingerprintOf, keepKnownValues } from "../forms/form-values.ts";
import { isAnyModel, type OperationForm } from "../forms/operation-forms.ts";

export const MAX_MODELS = 4;
const MODEL = "model";

export type Draft = { form: OperationForm; values: FormValues; furtherModels: readonly string[] };

/** One request of a draft. `model` is absent for operations without a choice of models. */
export type DraftRequest = { operation: string; model: string | undefined; input: FormValues };

export function requestsOf({ form, values, furtherModels }: Draft): DraftRequest[] {
  const operation = form.name;
  const model = isAnyModel(form) ? modelNameOf(values) : chosenModel(form, values);
  const first = { operation, model, input: values };
  const field = form.fields.find(({ isModel }) => isModel);
  if (!field) return [first];
  return [first, ...furtherModels.map((model) => ({ operation, model, input: { ...values, [field.name]: model } }))];
}

/** The same draft for another operation: values of fields that it has too stay. */
export const changeOperation = ({ values }: Draft, form: OperationForm): Draft => ({
  form,
  values: keepKnownValues(
    values,
    // A model of one operation is none of another.
    form.fields.filter(({ isModel, name }) => !isModel && name !== MODEL).map(({ name }) => name),
  ),
  furtherModels: [],
});

/** The same draft with a model that a link names. */
export function withModel(draft: Draft, model: string | undefined): Draft {
  const { form, values } = draft;
  const field = isAnyModel(form) ? MODEL : form.fields.find(({ isModel }) => isModel)?.name;
  if (!field || !model || values[field] === model) return draft;
  // Another imported model has other fields.
  const input = isAnyModel(form) && { input: {} };
  return { form, values: { ...values, [field]: model, ...input }, furtherModels: [] };
}

export const fingerprintOfRequest = ({ operation, input }: DraftRequest): string => fingerprintOf({ operation, input });

const MICRO = 1_000_000;

/**
 * Divides one cost cap among several runs: each gets its own price and an equal part of what is left. A cap below the
 * sum of the prices is divided in proportion, so the server refuses every run instead of starting some.
 */
export function divideCap(cap: number, prices: readonly (number | null)[]): number[] {
  const whole = Math.round(cap * MICRO);
  const known = prices.flatMap((price) => (price === null ? [] : [Math.round(price * MICRO)]));
  const sum = known.reduce((total, price) => total + price, 0);
  const left = whole - sum;
  return prices.map((_, index) => {
    const price = known.length === prices.length ? (known[index] ?? 0) : undefined;
    if (price === undefined) return Math.floor(whole / prices.length) / MICRO;
    const part = left < 0 ? (whole * price) / sum : price + left / prices.length;
    return Math.floor(part) / MICRO;
  });
}
