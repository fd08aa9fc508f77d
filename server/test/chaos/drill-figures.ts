// The figures of a drill: what was lost, submitted twice or charged wrongly over all runs, and for each disturbance how
// long no run was accepted and how long none ended.
import type { ChaosEnvironment } from "./chaos-environment.ts";
import { PRICE_MICRODOLLARS } from "./check-charges.ts";
import type { PostedRun } from "./run-load.ts";
import { listFakeVendorJobs, listSandboxJobs } from "./vendor-jobs.ts";

/** What a drill did under load, and when, in milliseconds. */
export type Disturbance = { name: string; from: number; to: number };

export type DisturbanceFigures = Disturbance & {
  refusals: Record<string, number>;
  /** The longest time without an accepted run, from the disturbance until the next one. */
  notAcceptedMs: number;
  /** The longest time in which no run ended. */
  stallMs: number;
  /** From the end of the disturbance until a run was accepted. */
  acceptedAfterMs: number;
  /** From the end of the disturbance until a run ended. */
  endedAfterMs: number;
};

export type DrillFigures = {
  accepted: number;
  lost: number;
  submittedTwice: number;
  ledgerDifferenceDollars: number;
  unknownOutcomes: number;
};

type EndedRun = { run_id: string; status: string; finished_ms: number; settled: number };

export async function measureDrill(
  environment: ChaosEnvironment,
  posted: PostedRun[],
  disturbances: Disturbance[],
): Promise<{ totals: DrillFigures; each: DisturbanceFigures[] }> {
  const runs = await environment.query<EndedRun>(
    `select run_id, status, (extract(epoch from finished_at) * 1000)::float as finished_ms,
       (select coalesce(sum(amount), 0)::int from transfers where cause_id = run_id and kind = 'settle') as settled
     from runs`,
  );
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const jobs = [...(await listSandboxJobs(environment)), ...listFakeVendorJobs(environment.openai, posted)];
  const jobsOf = Map.groupBy(jobs, ({ run_id }) => run_id);
  const charged = runs.reduce((sum, { settled }) => sum + settled, 0);
  const completed = posted.filter(({ run_id }) => byId.get(run_id)?.status === "completed");
  const produced = completed.reduce((sum, post) => sum + PRICE_MICRODOLLARS[post.class] * post.count, 0);
  const times = {
    accepted: posted.map(({ acceptedAt }) => acceptedAt).sort((a, b) => a - b),
    ended: runs.flatMap(({ finished_ms }) => (finished_ms === null ? [] : [finished_ms])).sort((a, b) => a - b),
    refused: posted.flatMap(({ refusals }) => refusals),
  };
  return {
    totals: {
      accepted: posted.length,
      lost: posted.filter(({ run_id }) => !byId.has(run_id)).length,
      submittedTwice: posted.filter(({ run_id, count }) => (jobsOf.get(run_id)?.length ?? 0) > count).length,
      ledgerDifferenceDollars: (charged - produced) / 1e6,
      unknownOutcomes: posted.length - completed.length,
    },
    each: disturbances.map((disturbance, index) =>
      measureDisturbance(disturbance, disturbances[index + 1]?.from ?? Number.POSITIVE_INFINITY, times),
    ),
  };
}

type DrillTimes = { accepted: number[]; ended: number[]; refused: { at: number; status: string }[] };

function measureDisturbance(
  { name, from, to }: Disturbance,
  next: number,
  { accepted, ended, refused }: DrillTimes,
): DisturbanceFigures {
  const refusals: Record<string, number> = {};
  for (const { at, status } of refused) if (at >= from && at < next) refusals[status] = (refusals[status] ?? 0) + 1;
  const after = (times: number[]) => (times.find((at) => at >= to) ?? Number.POSITIVE_INFINITY) - to;
  return {
    ...{ name, from, to, refusals },
    notAcceptedMs: longestGap(accepted, from, next),
    stallMs: longestGap(ended, from, next),
    acceptedAfterMs: after(accepted),
    endedAfterMs: after(ended),
  };
}

/** The longest time between two of the sorted times after `from`, up to `to`. */
export function longestGap(times: number[], from: number, to: number): number {
  const inside = [from, ...times.filter((at) => at > from && at < to), ...(Number.isFinite(to) ? [to] : [])];
  return Math.max(0, ...inside.slice(1).map((at, index) => at - inside[index]!));
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

export const describeTotals = (totals: DrillFigures): string =>
  `figures: ${totals.accepted} runs accepted, ${totals.lost} lost, ${totals.submittedTwice} submitted twice, ` +
  `ledger difference $${totals.ledgerDifferenceDollars.toFixed(2)}, ${totals.unknownOutcomes} unknown outcomes`;

export function describeDisturbance(figures: DisturbanceFigures): string {
  const counts = Object.entries(figures.refusals).map(([status, count]) => `${count} × ${status}`);
  return (
    `${figures.name}: took ${seconds(figures.to - figures.from)}; no run accepted for ${seconds(figures.notAcceptedMs)}; ` +
    `no run ended for ${seconds(figures.stallMs)}; afterwards the first was accepted after ` +
    `${seconds(figures.acceptedAfterMs)} and ended after ${seconds(figures.endedAfterMs)}; ` +
    `refused requests: ${counts.join(", ") || "none"}`
  );
}
