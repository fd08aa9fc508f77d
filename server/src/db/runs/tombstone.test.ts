// What a deleted run leaves behind, in every table of the database.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { failAttempt, saveRequestOutput } from "../attempts/attempts.ts";
import { claimAttempt } from "../attempts/claim-attempt.ts";
import { saveTicket } from "../attempts/tickets.ts";
import { endRun } from "./end-runs.ts";
import { insertRun } from "./insert-run.ts";
import { claimQueuedRuns } from "./queue.ts";
import { tombstoneRun } from "./runs.ts";
import { startClaimedRun } from "./start-run.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const TENANT = "00000000-0000-7000-8000-000000000001";
const PHRASE = "a very private prompt";

/** The tables with a row that contains the text. Reads as the owner, whom row-level security does not restrict. */
async function findText(text: string): Promise<string[]> {
  const tables = await database.owner.query<{ name: string }>(
    "test.tables",
    "select relname as name from pg_class where relkind in ('r', 'p') and not relispartition " +
      "and relnamespace = current_schema()::regnamespace",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await database.owner.query(
      `test.find.${name}`,
      `select from "${name}" as t where t::text like '%' || $1 || '%' limit 1`,
      [text],
    );
    if (row) found.push(name);
  }
  return found.sort();
}

/** A completed run whose prompt is in every place where a run keeps texts of its caller. */
async function completeRun(status: "completed" | "failed"): Promise<string> {
  const { db } = database;
  const run_id = v7();
  const job = { task: "image.generate" as const, model: "flux-dev", prompt: PHRASE };
  await insertRun(db, {
    ...{ run_id, root_run_id: run_id, tenant_id: TENANT, user_id: "u", event_id: v7(), depth: 1, lane: "fake" },
    ...{ operation: "images.generate", run_type: "image-generation", deadlineSeconds: 600 },
    ...{ inputs: { prompt: PHRASE }, plan: [job], metadata: { note: PHRASE }, warnings: [`ignored: ${PHRASE}`] },
  });
  const [claim] = await claimQueuedRuns(db, [{ tenant_id: TENANT, lane: "fake", count: 1 }]);
  await startClaimedRun(db, claim!, v7());
  const request = { url: "https://provider.example", method: "POST", body: { prompt: PHRASE } };
  const error = { code: "content_refused" as const, message: "refused", details: { text: PHRASE } };
  for (const attempt_number of [1, 2]) {
    const attempt = { run_id, request_index: 0, attempt_number };
    await claimAttempt(db, {
      ...{ ...claim!, ...attempt, idempotency_key: `${run_id}.0.${attempt_number}`, provider: "p", model: "flux-dev" },
      ...{ upstream: "u", price: 1, wakeupId: "w", leaseSeconds: 30, runsLocally: false },
    });
    if (attempt_number === 1) await failAttempt(db, attempt, { fault: error, isFinal: false, request });
    else await saveTicket(db, attempt, { ticket: { job: "j" }, request }, 1);
  }
  const data = { text: PHRASE };
  const attempt = { run_id, request_index: 0, attempt_number: 2 };
  await saveRequestOutput(db, claim!, attempt, { files: [], data, request });
  const completed = { status: "completed" as const, result: { outputs: [], data }, provider: "p", cost: 1 };
  await endRun(db, claim!, status === "completed" ? { ...completed, warnings: [] } : { status, error }, v7());
  return run_id;
}

it.each(["completed", "failed"] as const)(
  "a deleted run that %s leaves no text of its caller in any table",
  async (status) => {
    const runId = await completeRun(status);
    expect(await findText(PHRASE)).toEqual(["attempts", "planned_requests", "runs"]);
    expect(await tombstoneRun(database.db.forTenant(TENANT), TENANT, runId, v7())).toBe(true);
    expect(await findText(PHRASE)).toEqual([]);
    const [row] = await database.db.query("test.status", "select status, deleted_at from runs where run_id = $1", [
      runId,
    ]);
    expect(row).toMatchObject({ status, deleted_at: expect.any(Date) });
  },
);

it("a deleted run queues the deletion of everything below its storage prefix, also without rows of files", async () => {
  const runId = await completeRun("completed");
  const outboxId = v7();
  await tombstoneRun(database.db.forTenant(TENANT), TENANT, runId, outboxId);
  const queued = "select kind, payload from outbox where outbox_id = $1";
  expect(await database.db.query("test.queued", queued, [outboxId])).toEqual([
    { kind: "delete_files", payload: { keys: [], run_prefix: `t/${TENANT}/r/${runId}/` } },
  ]);
});

it("a tenant clears nothing of another tenant's run", async () => {
  const runId = await completeRun("completed");
  const other = v7();
  expect(await tombstoneRun(database.db.forTenant(other), TENANT, runId, v7())).toBe(false);
  expect(await findText(PHRASE)).toEqual(["attempts", "planned_requests", "runs"]);
});
