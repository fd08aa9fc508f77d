import { z } from "zod";
import { runId } from "../../contract/fields.ts";
import { Run } from "../../contract/schemas/run.ts";
import { listAttempts } from "../../db/attempts/attempt-history.ts";
import type { Database } from "../../db/connect.ts";
import { findQueueRank } from "../../db/runs/queue.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { addMarks } from "../../library/run-marks.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import { type RenderDependencies, renderAttempt, renderRun } from "../../runs/show/render-run.ts";
import type { Clock } from "../../runtime/clock.ts";
import { defineQuery } from "../define-query.ts";

type Needs = RenderDependencies & { database: Database; clock: Pick<Clock, "now"> };

export const getRun = defineQuery({
  name: "runs.get",
  summary: "Get a run",
  http: { method: "GET", path: "/runs/:run_id" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: Run,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ run_id }, request, services: Needs) {
    const { database, caller } = request;
    const row = await requireOwnRun(request, run_id);
    const attempts = (await listAttempts(database, run_id)).map(renderAttempt);
    const [run] = await addMarks(database, caller.tenant_id, [renderRun(services, row)]);
    return { ...run!, ...(await findQueuePosition(services, row)), attempts };
  },
});

/**
 * The place of a queued run among the runs of its tenant that wait for the same provider, with an estimated start time
 * at the current start rate of the queue.
 */
async function findQueuePosition(
  { database, clock }: Pick<Needs, "database" | "clock">,
  row: RunRow,
): Promise<Pick<Run, "queue_position" | "estimated_start_at"> | undefined> {
  if (row.status !== "queued") return undefined;
  const rank = await findQueueRank(database, row.tenant_id, row.run_id);
  if (!rank) return undefined;
  const queue_position = rank.ahead + 1;
  if (!rank.per_second) return { queue_position };
  const startsAt = new Date(clock.now() + (queue_position / rank.per_second) * 1000);
  return { queue_position, estimated_start_at: startsAt.toISOString() };
}
