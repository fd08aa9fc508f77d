// What happened to a run, in order: accepted, waited, each attempt, and the end. The times of the entries add up to the
// time of the run.
import type { Attempt, Run, RunLedger } from "@gesso/client";

export type TimelineEntry = {
  kind: "accepted" | "waited" | "attempt" | "ended";
  /** Milliseconds from the acceptance to the end of this entry; null while it goes on. */
  at: number | null;
  attempt?: Attempt & { price: number | null };
  /** Length of a wait in milliseconds. */
  duration?: number;
};

type TimelineRun = Pick<Run, "created_at" | "started_at" | "finished_at" | "attempts">;

export function timelineOf(run: TimelineRun, ledger: Pick<RunLedger, "attempts"> | undefined): TimelineEntry[] {
  const since = (iso: string | null) => (iso === null ? null : Date.parse(iso) - Date.parse(run.created_at));
  const started = since(run.started_at);
  const attempts = (run.attempts ?? []).map((attempt): TimelineEntry => {
    const priced = ledger?.attempts.find((each) => each.job === attempt.job && each.try === attempt.try);
    return { kind: "attempt", at: since(attempt.finished_at), attempt: { ...attempt, price: priced?.price ?? null } };
  });
  const ended = since(run.finished_at);
  return [
    { kind: "accepted", at: 0 },
    ...(started === null ? [] : [{ kind: "waited" as const, at: started, duration: started }]),
    ...attempts,
    ...(ended === null ? [] : [{ kind: "ended" as const, at: ended }]),
  ];
}
