// Repeats the request of a run, with the same or another model. The new run is a child of the first one.
import { ConnectionError, type Run, type RunsEstimateInput } from "@gesso/client";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { client } from "../api/client.ts";
import { OPERATION_FORMS, type OperationForm } from "../forms/operation-forms.ts";
import { findFormOfRun } from "../forms/operation-of-run.ts";

export type RetryChoice = {
  form: OperationForm;
  /** The field that names the model, and the names that every installation knows; absent without a choice. */
  field: string | undefined;
  models: readonly string[];
};

/** Undefined for runs whose request cannot be repeated: uploads, and runs of earlier versions. */
export function retryChoiceOf(run: Run): RetryChoice | undefined {
  const form = findFormOfRun(OPERATION_FORMS, run);
  if (!form || !run.given) return undefined;
  const field = form.fields.find(({ isModel }) => isModel);
  const models = (field?.options ?? []).filter((each): each is string => typeof each === "string");
  return { form, field: field?.name, models };
}

type Changes = Record<string, unknown>;

export const useRetryPrice = (run: Run, { form }: RetryChoice, changes: Changes) =>
  useQuery({
    queryKey: ["estimate", "rerun", run.run_id, changes],
    queryFn: ({ signal }) => {
      const input = { operation: form.name, input: { ...run.given, ...changes } };
      return client.runs.estimate(input as unknown as RunsEstimateInput, { signal, maxRetries: 0 });
    },
    placeholderData: keepPreviousData,
  });

/** Starts the run and opens its page. A repeated press after a lost response asks with the same idempotency key. */
export function useRetry(run: Run) {
  const navigate = useNavigate();
  const keys = useRef(new Map<string, string>());
  return useMutation({
    mutationFn: async (changes: Changes) => {
      const fingerprint = JSON.stringify(changes);
      const idempotencyKey = keys.current.get(fingerprint) ?? `console-${crypto.randomUUID()}`;
      keys.current.set(fingerprint, idempotencyKey);
      try {
        return await client.runs.rerun(run.run_id, { changes }, { idempotencyKey });
      } catch (error) {
        if (!ConnectionError.isInstance(error)) keys.current.delete(fingerprint);
        throw error;
      }
    },
    onSuccess: ({ run_id }) => navigate({ to: "/runs/$runId", params: { runId: run_id } }),
  });
}
