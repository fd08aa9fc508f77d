// What providers charge for jobs whose results the caller does not get, on a real PostgreSQL: a canceled run is charged
// for it, otherwise it is recorded as waste.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { failAttempt, saveRequestOutput } from "../attempts/attempts.ts";
import { claimAttempt } from "../attempts/claim-attempt.ts";
import { saveTicket } from "../attempts/tickets.ts";
import { endRun } from "../runs/end-runs.ts";
import { insertRun } from "../runs/insert-run.ts";
import { startClaimedRun } from "../runs/start-run.ts";
import { findLedgerViolations } from "./ledger-check.ts";

const tenant_id = v7();
let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await database.db.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 't')", [tenant_id]);
});
afterAll(() => database?.stop());

const error = { message: "m", code: "provider_error" as const, details: {} };
const completed = (cost: number) => ({
  ...{ status: "completed" as const, result: { outputs: [] }, provider: "p", cost, warnings: [] },
});
/** A run with a reservation of 40,000 micro-dollars. */
const begin = async () => {
  const run_id = v7();
  await insertRun(database.db, {
    ...{ run_id, tenant_id, user_id: "u", operation: "images.generate", run_type: "image-generation" },
    ...{ inputs: {}, plan: [], metadata: {}, warnings: [], root_run_id: run_id, depth: 1, lane: "p" },
    ...{ deadlineSeconds: 60, event_id: v7(), estimate: 40_000 },
  });
  const claim = { run_id, tenant_id, epoch: 0 };
  await startClaimedRun(database.db, claim, v7());
  return claim;
};
const transfersOf = (runId: string) =>
  database.db
    .query<{ transfer: string }>(
      "test.transfers",
      `select concat_ws(' ', kind, from_account, to_account, amount) as transfer from transfers where cause_id = $1
       order by array_position(array['reserve', 'settle', 'release', 'waste'], kind)`,
      [runId],
    )
    .then((rows) => rows.map(({ transfer }) => transfer));
const costOf = async (runId: string) => {
  const [row] = await database.db.query("test.cost", "select cost from runs where run_id = $1", [runId]);
  return row!.cost;
};
const expectLedgerConsistent = async () =>
  expect((await findLedgerViolations(database.url)).filter(({ violations }) => violations > 0)).toEqual([]);

describe("waste", () => {
  const attempt = async (held: { run_id: string; tenant_id: string; epoch: number }, job = 0, n = 1) => {
    const id = { run_id: held.run_id, request_index: job, attempt_number: n };
    const claim = { idempotency_key: v7(), provider: "p", model: "m", upstream: "u", wakeupId: "w", leaseSeconds: 9 };
    await claimAttempt(database.db, { ...held, ...id, ...claim, runsLocally: false, price: 40_000 });
    return id;
  };
  const wasteOf = async (runId: string) =>
    (await transfersOf(runId)).filter((description) => description.startsWith("waste"));
  const fail = (held: Parameters<typeof attempt>[0]) => endRun(database.db, held, { status: "failed", error }, v7());

  it("is what a provider may have charged for a job with an unknown outcome", async () => {
    const claim = await begin();
    const id = await attempt(claim);
    await failAttempt(database.db, id, { fault: { ...error, code: "provider_outcome_unknown" }, isFinal: true });
    await fail(claim);
    expect(await wasteOf(claim.run_id)).toEqual(["waste outside waste 40000"]);
    expect((await transfersOf(claim.run_id))[1]).toBe("release reserved credit 40000");
  });

  it("is what a job costs that was at its provider when the run timed out", async () => {
    const claim = await begin();
    await saveTicket(database.db, await attempt(claim), { ticket: { id: "t" } }, 1);
    await endRun(database.db, { run_id: claim.run_id }, { status: "failed", error }, v7());
    expect(await wasteOf(claim.run_id)).toEqual(["waste outside waste 40000"]);
  });

  it("is not what a canceled run is charged for: jobs that its provider had accepted or finished", async () => {
    const claim = await begin();
    await saveTicket(database.db, await attempt(claim), { ticket: { id: "t" } }, 1);
    await endRun(database.db, claim, { status: "canceled", error }, v7());
    expect((await transfersOf(claim.run_id)).slice(1)).toEqual(["settle reserved spent 40000"]);
    expect(await costOf(claim.run_id)).toEqual({ amount: 0.04, currency: "USD" });

    // The second job exceeds the reservation.
    const further = await begin();
    await saveRequestOutput(database.db, further, await attempt(further), { files: [] });
    await saveTicket(database.db, await attempt(further, 1), { ticket: { id: "t" } }, 1);
    await endRun(database.db, further, { status: "canceled", error }, v7());
    expect((await transfersOf(further.run_id)).slice(1)).toEqual([
      ...["settle reserved spent 40000", "waste outside waste 40000"],
    ]);
    await expectLedgerConsistent();
  });

  it("is what a canceled run may cost beyond its charge: a job whose outcome is unknown", async () => {
    const claim = await begin();
    await attempt(claim);
    await endRun(database.db, claim, { status: "canceled", error }, v7());
    expect((await transfersOf(claim.run_id)).slice(1)).toEqual([
      ...["release reserved credit 40000", "waste outside waste 40000"],
    ]);
    expect(await costOf(claim.run_id)).toBeNull();
    await expectLedgerConsistent();
  });

  it("is not a job that its provider canceled without a charge", async () => {
    const claim = await begin();
    const id = await attempt(claim);
    await saveTicket(database.db, id, { ticket: { id: "t" } }, 1);
    await failAttempt(database.db, id, { fault: error, isFinal: true });
    await endRun(database.db, claim, { status: "canceled", error }, v7());
    expect((await transfersOf(claim.run_id)).slice(1)).toEqual(["release reserved credit 40000"]);
    expect(await costOf(claim.run_id)).toBeNull();
  });

  it("is not what a provider says it failed or refused", async () => {
    const claim = await begin();
    await failAttempt(database.db, await attempt(claim), { fault: error, isFinal: true });
    await fail(claim);
    expect(await wasteOf(claim.run_id)).toEqual([]);
  });

  it("is what was made for a run that failed after all, and not what a completed run delivers", async () => {
    for (const [end, waste] of [
      [{ status: "failed" as const, error }, ["waste outside waste 40000"]],
      [completed(40_000), []],
    ] as const) {
      const claim = await begin();
      const id = await attempt(claim);
      await saveRequestOutput(database.db, claim, id, { files: [] });
      await endRun(database.db, claim, end, v7());
      expect(await wasteOf(claim.run_id)).toEqual(waste);
    }
  });

  it("is the first submission, if its outcome was unknown and a second one delivered", async () => {
    const claim = await begin();
    await failAttempt(database.db, await attempt(claim), {
      fault: { ...error, code: "provider_outcome_unknown" },
      isFinal: true,
    });
    await saveRequestOutput(database.db, claim, await attempt(claim, 0, 2), { files: [] });
    await endRun(database.db, claim, completed(40_000), v7());
    expect(await transfersOf(claim.run_id)).toEqual([
      ...["reserve credit reserved 40000", "settle reserved spent 40000", "waste outside waste 40000"],
    ]);
    await expectLedgerConsistent();
  });
});
