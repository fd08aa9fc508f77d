// The price of a draft, asked of the server a moment after the last change. Texts that are still missing are filled in
// for the question, because they do not change the price.
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { INPUT, inputOf } from "../any-model/input-of.ts";
import { inputForPrice } from "../any-model/model-values.ts";
import { isComplete } from "../forms/field-states.ts";
import { type FormField, isAnyModel, MODELS } from "../forms/operation-forms.ts";
import { type Draft, type DraftRequest, fingerprintOfRequest, requestsOf } from "./draft.ts";
import { estimateRequest } from "./estimate-request.ts";
import { type Price, sumPrices } from "./price-sum.ts";

/** The price stands on the button 300 ms after the last key, so most of that time is left for the response. */
const NO_FIELDS: readonly FormField[] = [];
const DEBOUNCE_MS = 80;

/** `modelFields`: those of the imported model that the draft names. */
export function usePrice(draft: Draft, modelFields = NO_FIELDS): Price {
  const settled = useDebounced(draft, DEBOUNCE_MS);
  const priced = useMemo(() => withMissingTexts(settled, modelFields), [settled, modelFields]);
  const requests = useMemo(() => (priced ? requestsOf(priced) : []), [priced]);
  const estimates = useQueries({
    queries: requests.map((request) => ({
      queryKey: ["estimate", fingerprintOfRequest(request)],
      queryFn: ({ signal }: { signal: AbortSignal }) => estimateRequest(request, signal),
      placeholderData: keepPreviousData,
      enabled: canEstimate(settled, request),
    })),
  });
  if (!priced) return sumPrices([null]);
  return sumPrices(
    estimates.map(({ data, isError }, index) => {
      const request = requests[index];
      return isError || !request || !canEstimate(settled, request) ? null : data;
    }),
  );
}

/** A request that lacks a field would be refused. */
const canEstimate = ({ form }: Draft, { input }: DraftRequest) => isComplete({ form, values: input, models: MODELS });

/** Undefined for an imported model that lacks more than texts. */
function withMissingTexts(draft: Draft, modelFields: readonly FormField[]): Draft | undefined {
  if (isAnyModel(draft.form)) {
    const { values } = draft;
    const input = modelFields.length > 0 && inputForPrice(modelFields, inputOf(values));
    return input ? { ...draft, values: { ...values, [INPUT]: input } } : undefined;
  }
  const missing = draft.form.fields.filter(
    ({ name, isRequired, widget }) => isRequired && widget === "text" && draft.values[name] === undefined,
  );
  const filled = Object.fromEntries(missing.map(({ name, label }) => [name, label]));
  return { ...draft, values: { ...filled, ...draft.values } };
}

/** The value as it was when it last stayed the same for a while. */
function useDebounced<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
