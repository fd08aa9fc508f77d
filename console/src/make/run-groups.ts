// Groups runs that were started together: the same prompt within ten seconds. The groups follow from the runs
// themselves, so they are the same after a reload, in another tab and for runs that were started by a program.

import type { Run } from "@gesso/client";
import { addMoney } from "../format/money.ts";
import { findPrompt } from "../parts/run-prompt.ts";

export type RunGroup = { id: string; prompt: string | null; runs: readonly Run[] };

const TOGETHER_MS = 10_000;
/** Uploads are sources, not results. */
const NOT_RESULTS = ["upload", "mask-upload"];

/** `runs` newest first, as the API lists them. Groups are newest first, runs of a group oldest first. */
export function groupRuns(runs: readonly Run[]): RunGroup[] {
  const groups: { prompt: string | null; run_type: string; oldest: number; runs: Run[] }[] = [];
  for (const run of runs.filter(({ run_type }) => !NOT_RESULTS.includes(run_type))) {
    const created = Date.parse(run.created_at);
    const last = groups.at(-1);
    const belongs =
      last !== undefined &&
      last.prompt === findPrompt(run) &&
      last.run_type === run.run_type &&
      last.oldest - created < TOGETHER_MS;
    if (belongs) {
      last.runs.unshift(run);
      last.oldest = created;
    } else groups.push({ prompt: findPrompt(run), run_type: run.run_type, oldest: created, runs: [run] });
  }
  return groups.map(({ prompt, runs: own }) => ({ id: own[0]!.run_id, prompt, runs: own }));
}

export type GroupFacts = { models: string[]; completed: number; isOpen: boolean; cost: number | null };

export function factsOfGroup({ runs }: RunGroup): GroupFacts {
  const costs = runs.flatMap(({ cost }) => (cost ? [cost.amount] : []));
  return {
    models: [...new Set(runs.flatMap(({ model }) => (model ? [model] : [])))],
    completed: runs.filter(({ status }) => status === "completed").length,
    isOpen: runs.some(({ status }) => status === "queued" || status === "processing"),
    cost: costs.length > 0 ? addMoney(costs) : null,
  };
}
