// Where the time of a run went: waiting, at providers, storing. The phases add up to the time of the run exactly.
import type { TimelineRun } from "./timeline.ts";

export const PHASES = ["waiting", "working", "storing"] as const;
export type RunPhase = { name: (typeof PHASES)[number]; milliseconds: number };

/** Empty while the run goes on. */
export function phasesOf({ created_at, started_at, finished_at, attempts }: TimelineRun): RunPhase[] {
  if (!finished_at) return [];
  const end = Date.parse(finished_at);
  const within = (from: number, time: number) => Math.min(end, Math.max(from, time));
  const start = within(Date.parse(created_at), started_at ? Date.parse(started_at) : end);
  const lastAttempt = Math.max(start, ...(attempts ?? []).map((each) => Date.parse(each.finished_at ?? finished_at)));
  const worked = within(start, lastAttempt);
  return [
    { name: "waiting", milliseconds: start - Date.parse(created_at) },
    { name: "working", milliseconds: worked - start },
    { name: "storing", milliseconds: end - worked },
  ];
}
