// Statements over many runs: each run of a batch gets its own result, as if it had been alone.

import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { attemptOf, cancelRun, claimRun, TENANT } from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Job } from "../../contract/operation.ts";
import { findLatestAttempt } from "../attempts/attempts.ts";
import { type AttemptClaim, claimAttempt } from "../attempts/claim-attempt.ts";
import { receiveCallback, saveTicket } from "../attempts/tickets.ts";
import type { RunClaim } from "../run-claims.ts";
import { startClaimedRun } from "./start-run.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

const RUNS = 8;
const claimRuns = async (isStarted: boolean) => {
  const claims: RunClaim[] = [];
  for (let index = 0; index < RUNS; index++) claims.push(await claimRun(database.db, { isStarted }));
  return claims;
};
const stale = (claim: RunClaim): RunClaim => ({ ...claim, epoch: claim.epoch + 1 });
const claimFirst = (claim: RunClaim, leaseToken = v7(), requestIndex = 0, start?: AttemptClaim["start"]) =>
  claimAttempt(database.db, {
    ...{ ...claim, ...attemptOf(claim), request_index: requestIndex, idempotency_key: claim.run_id, model: "flux-dev" },
    ...{ provider: "first", upstream: "m", price: 5, wakeupId: `wakeup ${claim.run_id}`, leaseToken },
    ...{ leaseSeconds: 35, runsLocally: false, start },
  });
const eventsOf = ({ run_id }: RunClaim) =>
  database.db.query<{ type: string }>("test.events", "select type from events where run_id = $1 order by xact, seq", [
    run_id,
  ]);

it("runs that start together get their own plan and event, and a stale claim or another tenant starts nothing", async () => {
  const claims = await claimRuns(false);
  const asked = claims.map((claim, index) => {
    if (index === 2) return stale(claim);
    return index === 3 ? { ...claim, tenant_id: v7() } : claim;
  });
  const started = await Promise.all(asked.map((claim) => startClaimedRun(database.db, claim, v7())));
  const expected = claims.map(({ run_id }, index) => (index === 2 || index === 3 ? undefined : run_id));
  expect(started.map((run) => run?.run_id)).toEqual(expected);
  expect(started[0]).toMatchObject({ tenant_id: TENANT, plan: [{ model: "flux-dev" }], earlier_outputs: {} });
  for (const [index, claim] of claims.entries()) {
    const types = (await eventsOf(claim)).map(({ type }) => type);
    expect(types).toEqual(expected[index] ? ["run.queued", "run.processing"] : ["run.queued"]);
  }
});

it("attempts that are claimed together are claimed once, and not by a stale claim or for a canceled run", async () => {
  const claims = await claimRuns(true);
  await cancelRun(database.db, claims[4]!);
  const token = v7();
  await claimFirst(claims[5]!, token);
  await claimFirst(claims[6]!);
  const states = await Promise.all(
    claims.map((claim, index) => claimFirst(index === 3 ? stale(claim) : claim, index === 5 ? token : v7())),
  );
  const other = ["claim_lost", "canceled", "claimed", "claimed_by_other", "claimed"];
  expect(states).toEqual(["claimed", "claimed", "claimed", ...other]);
  expect(await findLatestAttempt(database.db, claims[3]!.run_id, 0)).toBe(undefined);
  expect(await findLatestAttempt(database.db, claims[4]!.run_id, 0)).toBe(undefined);
  expect(await findLatestAttempt(database.db, claims[0]!.run_id, 0)).toMatchObject({
    state: "intent",
    provider: "first",
  });
});

it("a first claim starts its run, and not with another plan, for another tenant or for a stale claim", async () => {
  const claims = await claimRuns(false);
  const [row] = await database.db.query<{ plan: Job[] }>("test.plan", "select plan from runs where run_id = $1", [
    claims[0]!.run_id,
  ]);
  const { plan } = row!;
  const asked = claims.map((claim, index) => {
    if (index === 2) return stale(claim);
    return index === 3 ? { ...claim, tenant_id: v7() } : claim;
  });
  const states = await Promise.all(
    asked.map((claim, index) => {
      const other = index === 4 ? [{ ...plan[0]!, count: 99 }] : plan;
      return claimFirst(claim, v7(), 0, index === 5 ? undefined : { eventId: v7(), plan: other });
    }),
  );
  const lost = "claim_lost";
  expect(states).toEqual(["claimed", "claimed", lost, lost, lost, "claimed", "claimed", "claimed"]);
  for (const [index, claim] of claims.entries()) {
    const types = (await eventsOf(claim)).map(({ type }) => type);
    expect(types).toEqual([2, 3, 4, 5].includes(index) ? ["run.queued"] : ["run.queued", "run.processing"]);
  }
  const repeated = await claimFirst(claims[0]!, v7(), 0, { eventId: v7(), plan });
  expect([repeated, await eventsOf(claims[0]!)]).toMatchObject(["claimed_by_other", { length: 2 }]);
});

it("requests of one run that are claimed together are all claimed", async () => {
  const claim = await claimRun(database.db);
  const states = await Promise.all([0, 100, 200].map((requestIndex) => claimFirst(claim, v7(), requestIndex)));
  expect(states).toEqual(["claimed", "claimed", "claimed"]);
});

it("tickets and callbacks that arrive together belong to their attempts, and the first ticket stays", async () => {
  const claims = await claimRuns(true);
  await Promise.all(claims.map((claim) => claimFirst(claim)));
  const sent = claims.slice(0, 4);
  const ticketOf = ({ run_id }: RunClaim) => ({ job: run_id });
  await Promise.all(sent.map((claim) => saveTicket(database.db, attemptOf(claim), { ticket: ticketOf(claim) }, 2)));
  const received = await Promise.all(
    claims.map((claim, index) =>
      receiveCallback(
        database.db,
        { ...attemptOf(claim), provider: index === 7 ? "second" : "first" },
        { job: `callback ${claim.run_id}` },
        2,
      ),
    ),
  );
  expect(received.map((each) => each?.is_saved)).toEqual([false, false, false, false, true, true, true, false]);
  expect(received.map((each) => each?.wakeup_id)).toEqual(claims.map(({ run_id }) => `wakeup ${run_id}`));
  for (const [index, claim] of claims.entries()) {
    const expected = index < 4 ? ticketOf(claim) : { job: `callback ${claim.run_id}` };
    const attempt = await findLatestAttempt(database.db, claim.run_id, 0);
    expect(attempt?.ticket).toEqual(index === 7 ? null : expected);
  }
  const unknown = { ...attemptOf(claims[0]!, 9), provider: "first" };
  expect(await receiveCallback(database.db, unknown, { job: "x" }, 2)).toBe(undefined);
});
