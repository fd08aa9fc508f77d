// Simulated runs, written to the database with the service's own statements: many runs at any rate, without engine and
// providers.
import { v7 } from "uuid";
import type { Database } from "../../src/db/connect.ts";
import { endRun } from "../../src/db/runs/end-runs.ts";
import { insertRun, type NewRun } from "../../src/db/runs/insert-run.ts";
import { recordProgress, requestCancellation } from "../../src/db/runs/open-runs.ts";
import { startClaimedRun } from "../../src/db/runs/start-run.ts";
import { Fault } from "../../src/faults/faults.ts";
import { deriveId } from "../../src/runs/core/ids.ts";

export type SimulatedRun = {
  run_id: string;
  begin(): Promise<unknown>;
  progress(to: number): Promise<void>;
  complete(): Promise<boolean>;
  fail(): Promise<boolean>;
  cancel(): Promise<unknown>;
};

export async function createSimulatedRun(
  db: Database,
  tenant_id: string,
  about: Partial<NewRun> = {},
): Promise<SimulatedRun> {
  const run_id = v7();
  await insertRun(db, {
    ...{ run_id, tenant_id, user_id: "owner", operation: "images.generate", run_type: "image-generation" },
    ...{ inputs: { prompt: "a secret garden" }, plan: [], metadata: { order: 7 }, warnings: [], root_run_id: run_id },
    ...{ depth: 1, lane: "nobody", deadlineSeconds: 600, event_id: deriveId(run_id, "run.queued") },
    ...about,
  });
  const held = { run_id, tenant_id, epoch: 0 };
  const error = new Fault("provider_error").body();
  const end = deriveId(run_id, "end");
  return {
    run_id,
    begin: () => startClaimedRun(db, held, deriveId(run_id, "run.processing")),
    progress: (to) => recordProgress(db, run_id, to, deriveId(run_id, "progress", to)),
    complete: () =>
      endRun(
        db,
        held,
        { status: "completed", result: { outputs: [] }, provider: "sandbox", cost: null, warnings: [] },
        end,
      ),
    fail: () => endRun(db, held, { status: "failed", error }, end),
    cancel: () => requestCancellation(db, tenant_id, run_id, error, end),
  };
}
