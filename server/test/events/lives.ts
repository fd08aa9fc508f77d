// Lives of runs, written straight into the database by the very statements that the service uses: many of them, at any
// pace, without an engine or a vendor.
import { v7 } from "uuid";
import type { Database } from "../../src/db/connect.ts";
import { beginRun, cancelRun, endRun, noteProgress } from "../../src/db/open-runs.ts";
import { acceptRun, type NewRun } from "../../src/db/runs.ts";
import { Fault } from "../../src/faults.ts";
import { idWithin } from "../../src/runs/ids.ts";

export type Life = {
  run_id: string;
  begin(): Promise<unknown>;
  progress(to: number): Promise<void>;
  complete(): Promise<boolean>;
  fail(): Promise<boolean>;
  cancel(): Promise<unknown>;
};

export async function newLife(db: Database, tenant_id: string, about: Partial<NewRun> = {}): Promise<Life> {
  const run_id = v7();
  await acceptRun(db, {
    ...{ run_id, tenant_id, user_id: "owner", operation: "images.generate", run_type: "image-generation" },
    ...{ inputs: { prompt: "a secret garden" }, plan: [], metadata: { order: 7 }, warnings: [], root_run_id: run_id },
    ...{ depth: 1, lane: "nobody", deadlineSeconds: 600, event_id: idWithin(run_id, "run.queued") },
    ...about,
  });
  const held = { run_id, tenant_id, epoch: 0 };
  const error = new Fault("provider_error").body();
  const end = idWithin(run_id, "end");
  return {
    run_id,
    begin: () => beginRun(db, held, idWithin(run_id, "run.processing")),
    progress: (to) => noteProgress(db, run_id, to, idWithin(run_id, "progress", to)),
    complete: () =>
      endRun(
        db,
        held,
        { status: "completed", result: { outputs: [] }, provider: "sandbox", cost: null, warnings: [] },
        end,
      ),
    fail: () => endRun(db, held, { status: "failed", error }, end),
    cancel: () => cancelRun(db, tenant_id, run_id, error, end),
  };
}
