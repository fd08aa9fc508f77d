// "Edit again": fills the form with exactly what the request of a run set, on request with a new seed.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { runQuery } from "../api/queries.ts";
import { drawSeed } from "../forms/draw-seed.ts";
import { OPERATION_FORMS } from "../forms/operation-forms.ts";
import { findFormOfRun } from "../forms/operation-of-run.ts";
import type { Draft } from "./draft.ts";

type Recall = { from?: string; seed?: string };

export function useRecalledRun({ from, seed }: Recall, onRecall: (draft: Draft, runId: string) => void): void {
  const { data: run } = useQuery({ ...runQuery(from ?? ""), enabled: from !== undefined });
  const isAsked = run !== undefined && run.run_id === from;
  // Only the first response fills the form: later ones must not overwrite what the user changed since.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const form = isAsked ? findFormOfRun(OPERATION_FORMS, run) : undefined;
    if (!form || !run) return;
    const hasSeed = form.fields.some(({ widget, name }) => widget === "seed" && name === "seed");
    const values = { ...run.given, ...(seed === "new" && hasSeed && { seed: drawSeed() }) };
    onRecall({ form, values, furtherModels: [] }, run.run_id);
  }, [isAsked, from]);
}
