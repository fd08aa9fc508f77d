// The price of a draft, asked of the server a moment after the last change. Texts that are still missing are filled in
// for the question, because they do not change the price.
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { isComplete } from "../forms/field-states.ts";
import { MODELS } from "../forms/operation-forms.ts";
import { type Draft, type DraftRequest, fingerprintOfRequest, requestsOf } from "./draft.ts";
import { estimateRequest } from "./estimate-request.ts";
import { type Price, sumPrices } from "./price-sum.ts";

/** The price stands on the button 300 ms after the last key, so most of that time is left for the response. */
const DEBOUNCE_MS = 80;

export function usePrice(draft: Draft): Price {
  const settled = useDebounced(draft, DEBOUNCE_MS);
  const requests = useMemo(() => requestsOf(withMissingTexts(settled)), [settled]);
  const estimates = useQueries({
    queries: requests.map((request) => ({
      queryKey: ["estimate", fingerprintOfRequest(request)],
      queryFn: ({ signal }: { signal: AbortSignal }) => estimateRequest(request, signal),
      placeholderData: keepPreviousData,
      enabled: canEstimate(settled, request),
    })),
  });
  return sumPrices(
    estimates.map(({ data, isError }, index) => {
      const request = requests[index];
      return isError || !request || !canEstimate(settled, request) ? null : data;
    }),
  );
}

/** A request that lacks a field would be refused. */
const canEstimate = ({ form }: Draft, { input }: DraftRequest) => isComplete({ form, values: input, models: MODELS });

function withMissingTexts(draft: Draft): Draft {
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
