// The price of a draft, asked of the server a moment after the last change. Texts that are still missing are filled in
// for the question, because they do not change the price.
import type { RunsEstimateInput } from "@gesso/client";
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { client } from "../api/client.ts";
import { type Draft, type DraftRequest, fingerprintOfRequest, requestsOf } from "./draft.ts";
import { type Price, sumPrices } from "./price-sum.ts";
import { useDebounced } from "./use-debounced.ts";

/** The price stands on the button 300 ms after the last key, so the question goes out after half of that. */
const DEBOUNCE_MS = 150;

export function usePrice(draft: Draft): Price {
  const settled = useDebounced(draft, DEBOUNCE_MS);
  const requests = useMemo(() => requestsOf(withMissingTexts(settled)), [settled]);
  const estimates = useQueries({
    queries: requests.map((request) => ({
      queryKey: ["estimate", fingerprintOfRequest(request)],
      queryFn: ({ signal }: { signal: AbortSignal }) => estimate(request, signal),
      placeholderData: keepPreviousData,
    })),
  });
  return sumPrices(estimates.map(({ data, isError }) => (isError ? null : data)));
}

const estimate = async ({ operation, input }: DraftRequest, signal: AbortSignal) =>
  client.runs.estimate({ operation, input } as unknown as RunsEstimateInput, { signal, maxRetries: 0 });

function withMissingTexts(draft: Draft): Draft {
  const missing = draft.form.fields.filter(
    ({ name, isRequired, widget }) => isRequired && widget === "text" && draft.values[name] === undefined,
  );
  const filled = Object.fromEntries(missing.map(({ name, label }) => [name, label]));
  return { ...draft, values: { ...filled, ...draft.values } };
}
