// "Edit again": fills the form with exactly what the request of a run set.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { runQuery } from "../api/queries.ts";
import { OPERATION_FORMS } from "../forms/operation-forms.ts";
import { findFormOfRun } from "../forms/operation-of-run.ts";
import type { Draft } from "./draft.ts";

export function useRecalledRun(runId: string | undefined, onRecall: (draft: Draft, runId: string) => void): void {
  const { data: run } = useQuery({ ...runQuery(runId ?? ""), enabled: runId !== undefined });
  // Only the first response fills the form: later ones must not overwrite what the user changed since.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const form = run && findFormOfRun(OPERATION_FORMS, run);
    if (form) onRecall({ form, values: run.given ?? {}, furtherModels: [] }, run.run_id);
  }, [run?.run_id]);
}
