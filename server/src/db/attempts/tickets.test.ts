// Tickets name the paid job of one attempt: none is adopted by another attempt, and none is replaced by another.

import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attemptOf, claimRun } from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { Fault } from "../../faults/faults.ts";
import type { RunClaim } from "../run-claims.ts";
import { failAttempt, findLatestAttempt } from "./attempts.ts";
import { claimAttempt } from "./claim-attempt.ts";
import { receiveCallback, saveTicket } from "./tickets.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

const claim = (run: RunClaim, attemptNumber: number) =>
  claimAttempt(database.db, {
    ...{ ...run, ...attemptOf(run, attemptNumber), idempotency_key: `${run.run_id}.0.${attemptNumber}` },
    ...{ model: "flux-dev", provider: "first", upstream: "first-model", price: 10_000, wakeupId: "wakeup" },
    ...{ leaseToken: v7(), leaseSeconds: 35, runsLocally: false },
  });
const claimRunAndAttempt = async () => {
  const run = await claimRun(database.db);
  expect(await claim(run, 1)).toBe("claimed");
  return run;
};
const stateOf = (run: RunClaim) => findLatestAttempt(database.db, run.run_id, 0);
/** What the poller asks for. */
const polledOf = async (run: RunClaim) => {
  const polled = "select attempt_number, ticket from open_requests where run_id = $1";
  return (await database.db.query("test.polled", polled, [run.run_id]))[0];
};
const callBack = (run: RunClaim, { attemptNumber = 1, provider = "first", job = "called back" } = {}) =>
  receiveCallback(database.db, { ...attemptOf(run, attemptNumber), provider }, { job }, 1);

describe("a callback", () => {
  it("brings the ticket of an attempt that has none", async () => {
    const run = await claimRunAndAttempt();
    expect(await callBack(run)).toMatchObject({ is_saved: true, wakeup_id: "wakeup" });
    expect(await stateOf(run)).toMatchObject({ state: "submitted", ticket: { job: "called back" } });
    expect(await polledOf(run)).toEqual({ attempt_number: 1, ticket: { job: "called back" } });
  });

  it("of an earlier attempt does not become the ticket of a later one", async () => {
    const run = await claimRunAndAttempt();
    await failAttempt(database.db, attemptOf(run), { fault: new Fault("provider_error").body(), isFinal: false });
    expect(await claim(run, 2)).toBe("claimed");
    expect(await callBack(run)).toMatchObject({ is_saved: false });
    expect(await stateOf(run)).toMatchObject({ attempt_number: 2, state: "intent", ticket: null });
    expect(await polledOf(run)).toEqual({ attempt_number: 2, ticket: null });
  });

  it("that overtook the response of a later attempt is not its ticket, whatever state the earlier one is in", async () => {
    const run = await claimRunAndAttempt();
    await saveTicket(database.db, attemptOf(run), { ticket: { job: "first" } }, 1);
    expect(await claim(run, 2)).toBe("claimed");
    expect(await callBack(run)).toMatchObject({ is_saved: false });
    expect(await stateOf(run)).toMatchObject({ attempt_number: 2, state: "intent", ticket: null });
    expect(await polledOf(run)).toEqual({ attempt_number: 2, ticket: null });
  });

  it("of another provider is not the ticket of the attempt", async () => {
    const run = await claimRunAndAttempt();
    expect(await callBack(run, { provider: "second" })).toMatchObject({ is_saved: false });
    expect(await stateOf(run)).toMatchObject({ state: "intent", ticket: null });
  });

  it("does not replace the ticket that the response brought", async () => {
    const run = await claimRunAndAttempt();
    await saveTicket(database.db, attemptOf(run), { ticket: { job: "first" } }, 1);
    expect(await callBack(run)).toMatchObject({ is_saved: false, state: "submitted" });
    expect(await stateOf(run)).toMatchObject({ ticket: { job: "first" } });
  });
});

describe("a second ticket", () => {
  it("does not replace the first: the first job under a key is the one that is collected", async () => {
    const run = await claimRunAndAttempt();
    await saveTicket(database.db, attemptOf(run), { ticket: { job: "first" } }, 1);
    await saveTicket(database.db, attemptOf(run), { ticket: { job: "second" } }, 1);
    expect(await stateOf(run)).toMatchObject({ state: "submitted", ticket: { job: "first" } });
    expect(await polledOf(run)).toEqual({ attempt_number: 1, ticket: { job: "first" } });
  });

  it("of a response does not replace the one that a callback brought", async () => {
    const run = await claimRunAndAttempt();
    await callBack(run);
    await saveTicket(database.db, attemptOf(run), { ticket: { job: "responded" } }, 1);
    expect(await stateOf(run)).toMatchObject({ ticket: { job: "called back" } });
    expect(await polledOf(run)).toEqual({ attempt_number: 1, ticket: { job: "called back" } });
  });
});
