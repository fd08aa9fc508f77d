// The runs of the tray: all open ones, and those that ended a short time ago. Pure functions on plain data, so that
// events in any order, replayed events and the lists of the server give the same state.

import type { Run, RunEvent } from "@gesso/client";
import { findPrompt } from "../parts/run-prompt.ts";

export type TrayRun = {
  run_id: string;
  status: string;
  run_type: string;
  progress: number;
  prompt: string | null;
  model: string | null;
  image_url: string | null;
  /** What the run cost; null if that is not known, undefined until it has been read. */
  amount: number | null | undefined;
  error_code: string | null;
  created_at: string;
  updated_at: string;
  /** Sent to the server but not yet accepted: the ID is that of the request. */
  isStarting?: true;
};

export type TrayRuns = Readonly<Record<string, TrayRun>>;

const SHOWN_AFTER_END_MS = 10 * 60_000;

export const isOpen = ({ status }: Pick<TrayRun, "status">): boolean => status === "queued" || status === "processing";

export const fromRun = (run: Run): TrayRun => ({
  run_id: run.run_id,
  status: run.status,
  run_type: run.run_type,
  progress: run.progress,
  prompt: findPrompt(run),
  model: run.model,
  image_url: run.image_url,
  amount: run.cost?.amount ?? null,
  error_code: run.error?.code ?? null,
  created_at: run.created_at,
  updated_at: run.updated_at,
});

/** An event has no prompt, model and cost; those of the known run stay. */
export const fromEvent = ({ data }: RunEvent, known: TrayRun | undefined): TrayRun => ({
  run_id: data.run_id,
  status: data.status,
  run_type: data.run_type,
  progress: data.progress,
  prompt: known?.prompt ?? null,
  model: known?.model ?? null,
  image_url: data.image_url,
  amount: known?.amount ?? undefined,
  error_code: data.error?.code ?? null,
  created_at: data.created_at,
  updated_at: data.updated_at,
});

/**
 * Takes over the newer of both. An ended run never opens again, whatever arrives late. A run that was read before the
 * last event is older than the event, but only the run has the prompt and the model.
 */
export function putRun(runs: TrayRuns, next: TrayRun): TrayRuns {
  const known = runs[next.run_id];
  const isOlder = known !== undefined && Date.parse(next.updated_at) < Date.parse(known.updated_at);
  const reopens = known !== undefined && !isOpen(known) && isOpen(next);
  if (!isOlder && !reopens) return { ...runs, [next.run_id]: next };
  const { prompt, model } = known;
  const isKnown = (prompt ?? next.prompt) === prompt && (model ?? next.model) === model;
  if (isKnown) return runs;
  return { ...runs, [next.run_id]: { ...known, prompt: prompt ?? next.prompt, model: model ?? next.model } };
}

export function dropRun(runs: TrayRuns, runId: string): TrayRuns {
  const { [runId]: _dropped, ...rest } = runs;
  return rest;
}

/** Uploads are sources of runs, not work that a user waits for. */
const UPLOADS = ["upload", "mask-upload"];
const isShown = ({ run_type }: TrayRun) => !UPLOADS.includes(run_type);

const byCreation = (a: TrayRun, b: TrayRun) => (a.created_at < b.created_at ? -1 : 1);
const byEnd = (a: TrayRun, b: TrayRun) => (a.updated_at > b.updated_at ? -1 : 1);

/** Processing before queued, older before newer. */
export const openRuns = (runs: TrayRuns): TrayRun[] => {
  const open = Object.values(runs)
    .filter((run) => isOpen(run) && isShown(run))
    .sort(byCreation);
  return [...open.filter(({ status }) => status === "processing"), ...open.filter(({ status }) => status === "queued")];
};

/** Newest end first, at most `limit` runs. */
export function recentlyEnded(runs: TrayRuns, now: number, limit: number): TrayRun[] {
  const isRecent = ({ updated_at }: TrayRun) => now - Date.parse(updated_at) < SHOWN_AFTER_END_MS;
  return Object.values(runs)
    .filter((run) => !isOpen(run) && isShown(run) && isRecent(run))
    .sort(byEnd)
    .slice(0, limit);
}

/** The progress of all open runs together, from 0 to 1; undefined without open runs. */
export function overallProgress(runs: TrayRuns): number | undefined {
  const open = openRuns(runs);
  return open.length === 0 ? undefined : open.reduce((sum, { progress }) => sum + progress, 0) / open.length;
}
