import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deleteOpenRuns } from "../../../test/support/queued-runs.ts";
import { cancelRun, claimRun } from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { Fault } from "../../faults/faults.ts";
import type { RunClaim } from "../run-claims.ts";
import { endRun } from "../runs/end-runs.ts";
import { listOverdueRuns, requeueExpiredClaims } from "../runs/open-runs.ts";
import { claimOutboxItems } from "../runs/outbox.ts";
import { countLaneLoad } from "../runs/queue.ts";
import { saveRequestOutput } from "./attempts.ts";
import { type AttemptClaim, claimAttempt } from "./claim-attempt.ts";
import { claimJobsToPoll, expectResumption, releaseRequest, saveWakeup } from "./open-requests.ts";
import { saveTicket } from "./tickets.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());
beforeEach(() => deleteOpenRuns(database.db));

const attemptOf = ({ run_id }: RunClaim, request_index: number) => ({ run_id, request_index, attempt_number: 1 });

/** Two requests of a run, both at their provider. */
const openTwoRequests = async (deadlineSeconds = 600) => {
  const claim = await claimRun(database.db, { deadlineSeconds });
  const provider = v7();
  for (const request_index of [0, 100]) {
    const attempt = attemptOf(claim, request_index);
    const offer = { provider, model: "m", upstream: "u", price: null, idempotency_key: v7() };
    const started: AttemptClaim = {
      ...{ ...claim, ...attempt, ...offer },
      ...{ wakeupId: `wakeup-${request_index}`, leaseSeconds: 35, runsLocally: false },
    };
    expect(await claimAttempt(database.db, started)).toBe("claimed");
    await saveTicket(database.db, attempt, { ticket: { job: request_index } }, 0);
  }
  return { claim, provider };
};

const expireClaim = (where: string, { run_id }: RunClaim) =>
  database.db.query(
    `test.expire_${where}`,
    `update ${where} set claim_expires_at = now() - interval '1 s' where run_id = $1`,
    [run_id],
  );
const requeuedRuns = async () => (await requeueExpiredClaims(database.db, 100)).map(({ run_id }) => run_id);

describe("requests of one run that are in progress side by side", () => {
  it("have a claim each: the run is requeued when one of them expires, and not by the claim of the run", async () => {
    const { claim } = await openTwoRequests();
    await expireClaim("open_runs", claim);
    expect(await requeuedRuns()).not.toContain(claim.run_id);
    await saveWakeup(database.db, claim, 0, { wakeupId: "later", seconds: 600, activity: "at_provider" });
    await database.db.query(
      "test.expire_one",
      "update open_requests set claim_expires_at = now() - interval '1 s' where run_id = $1 and request_index = 100",
      [claim.run_id],
    );
    expect(await requeuedRuns()).toContain(claim.run_id);
  });

  it("keep the first output that was saved: a repeated step may have signed its file again", async () => {
    const { claim } = await openTwoRequests();
    const file = { asset_id: v7(), role: "result", media_type: "image/png", width: 8, height: 8, size_bytes: 9 };
    const save = (sha256: string) =>
      saveRequestOutput(database.db, claim, attemptOf(claim, 0), {
        files: [{ ...file, sha256, storage_key: `t/${sha256}` }],
      });
    const saved = [await save("first"), await save("second")];
    expect(saved.map((each) => each?.files[0]?.sha256)).toEqual(["first", "first"]);
    const rows = await database.db.query<{ sha256: string }>(
      "test.saved_file",
      "select sha256 from assets where asset_id = $1",
      [file.asset_id],
    );
    expect(rows).toEqual([{ sha256: "first" }]);
  });

  it("are not requeued because another one has ended", async () => {
    const { claim } = await openTwoRequests();
    await saveRequestOutput(database.db, claim, attemptOf(claim, 0), { files: [] });
    await expireClaim("open_runs", claim);
    expect(await requeuedRuns()).not.toContain(claim.run_id);
    await releaseRequest(database.db, claim, 100);
    expect(await requeuedRuns()).not.toContain(claim.run_id);
    await expireClaim("open_runs", claim);
    expect(await requeuedRuns()).toContain(claim.run_id);
  });

  it("keep their provider slots when the run is requeued, and are neither polled nor woken until they are claimed", async () => {
    const { claim, provider } = await openTwoRequests();
    await database.db.query("test.hold", "update open_requests set provider_slot = $2 where run_id = $1", [
      claim.run_id,
      provider,
    ]);
    await expireClaim("open_requests", claim);
    expect(await requeuedRuns()).toContain(claim.run_id);
    expect(await claimJobsToPoll(database.db, provider, { limit: 10, everySeconds: 1 })).toEqual([]);
    expect((await cancelRun(database.db, claim)).wakeupIds).toEqual([]);
    const held = "select 1 from open_requests where run_id = $1 and provider_slot is not null";
    expect(await database.db.query("test.held", held, [claim.run_id])).toHaveLength(2);
  });

  it("are polled one by one", async () => {
    const { claim, provider } = await openTwoRequests();
    const due = await claimJobsToPoll(database.db, provider, { limit: 10, everySeconds: 5 });
    expect(due.map(({ wakeup_id, ticket }) => [wakeup_id, ticket]).sort()).toEqual([
      ["wakeup-0", { job: 0 }],
      ["wakeup-100", { job: 100 }],
    ]);
    await expectResumption(database.db, { run_id: claim.run_id, request_index: 0 });
    const [load] = (await countLaneLoad(database.db)).filter(({ lane }) => lane === "fake");
    expect(load).toMatchObject({ working: 1 });
  });

  it("are all woken by a cancellation", async () => {
    const { claim } = await openTwoRequests();
    expect((await cancelRun(database.db, claim)).wakeupIds.sort()).toEqual(["wakeup-0", "wakeup-100"]);
    const wakeup = { wakeupId: "later", seconds: 1, activity: "at_provider" as const };
    expect(await saveWakeup(database.db, claim, 0, wakeup)).toMatchObject({ canceled: true });
  });

  it("are all canceled at their provider when the run is overdue", async () => {
    const { claim, provider } = await openTwoRequests(-1);
    const { run_id } = claim;
    expect(await listOverdueRuns(database.db, 0, 100)).toContain(run_id);
    const error = new Fault("run_timeout").body();
    expect(await endRun(database.db, { run_id }, { status: "failed", error }, v7())).toBe(true);
    const items = await claimOutboxItems(database.db, { cancelsAt: provider }, 100);
    expect(items.map(({ payload }) => payload)).toEqual(
      expect.arrayContaining([
        { run_id, request_index: 0, attempt_number: 1, provider, ticket: { job: 0 } },
        { run_id, request_index: 100, attempt_number: 1, provider, ticket: { job: 100 } },
      ]),
    );
    expect(items).toHaveLength(2);
  });

  it("are not canceled again when their own invocation ends the run", async () => {
    const { claim, provider } = await openTwoRequests();
    const error = new Fault("canceled_by_user").body();
    expect(await endRun(database.db, claim, { status: "canceled", error }, v7())).toBe(true);
    expect(await claimOutboxItems(database.db, { cancelsAt: provider }, 100)).toEqual([]);
  });
});
