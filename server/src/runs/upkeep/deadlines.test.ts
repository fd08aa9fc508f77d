// The deadline for waiting and the one for working, on a database that follows the clock of the test.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../../test/support/database-clock.ts";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import {
  attemptOf,
  claimAttemptAt,
  claimRun,
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestProviders,
  done,
  type FakeProvider,
  requestTo,
} from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { failAttempt } from "../../db/attempts/attempts.ts";
import { saveTicket } from "../../db/attempts/tickets.ts";
import type { Database } from "../../db/connect.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { Fault } from "../../faults/faults.ts";
import { collectResult, registerWakeup } from "../attempt/collect-result.ts";
import { submit } from "../attempt/submit.ts";
import { failOverdueRuns } from "./reconcile.ts";

const DEADLINE_SECONDS = 60;
/** How long after a deadline the watchdog ends a run that did not end itself. */
const GRACE_SECONDS = 20;

const clock = createManualClock();
let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await startTestDatabase();
  await installDatabaseClock(own);
  database = connectOnClock(own, clock);
});
afterAll(async () => {
  await database?.close();
  await own?.stop();
});

let fake: FakeProvider;
let services: ReturnType<typeof createStepServices>;
let claim: RunClaim;
let acceptedAt: number;
beforeEach(async () => {
  const runtime = { ...createRuntime(), clock };
  fake = createFakeProvider("fake");
  services = createStepServices({ database, runtime, providers: createTestProviders([fake], clock) });
  claim = await claimRun(database, { deadlineSeconds: DEADLINE_SECONDS });
  acceptedAt = clock.at;
});

const passTo = (seconds: number) => clock.advance(acceptedAt + seconds * 1000 - clock.at);
const submitAt = async (seconds: number) => {
  await passTo(seconds);
  return submit(services, claim, requestTo(fake), { attemptNumber: 1, wakeupId: "wakeup" });
};
const register = () => registerWakeup(services, claim, requestTo(fake), { wakeupId: "wakeup", seconds: 1 });
/** Whether the watchdog ends the run at this time. */
const isEndedAt = async (seconds: number) => {
  await passTo(seconds);
  return (await failOverdueRuns(services)) === 1;
};
const WAITING_ENDS = DEADLINE_SECONDS + GRACE_SECONDS;

it("a run that only waits ends at its deadline", async () => {
  expect(await isEndedAt(WAITING_ENDS - 1)).toBe(false);
  expect(await isEndedAt(WAITING_ENDS + 1)).toBe(true);
});

it("a request that finds no free slot until the deadline is not submitted", async () => {
  const full = { ...services.providers, circuitBreaker: { ...services.providers.circuitBreaker } };
  full.circuitBreaker.tryAcquire = async () => false;
  services = { ...services, providers: full };
  expect(await submitAt(DEADLINE_SECONDS - 1)).toMatchObject({ state: "wait" });
  await expect(submitAt(DEADLINE_SECONDS + 1)).rejects.toMatchObject({ code: "run_timeout" });
  expect(fake.submissions).toEqual([]);
});

describe("a request that is submitted a second before the deadline", () => {
  const SUBMITTED = DEADLINE_SECONDS - 1;
  beforeEach(() => submitAt(SUBMITTED));

  it("has the whole deadline again to end", async () => {
    await passTo(SUBMITTED + DEADLINE_SECONDS - 1);
    expect(await register()).toEqual({ state: "registered" });
    await passTo(SUBMITTED + DEADLINE_SECONDS + 1);
    await expect(register()).rejects.toMatchObject({ code: "provider_timeout" });
    expect(fake.canceled).toHaveLength(1);
  });

  it("is ended by the watchdog only after that", async () => {
    expect(await isEndedAt(SUBMITTED + WAITING_ENDS - 1)).toBe(false);
    expect(await isEndedAt(SUBMITTED + WAITING_ENDS + 1)).toBe(true);
  });

  it("gives the run as long again when it has succeeded", async () => {
    fake.poll = async () => done("one");
    await passTo(SUBMITTED + 30);
    expect(await collectResult(services, claim, requestTo(fake), { attemptNumber: 1 })).toMatchObject({
      state: "produced",
    });
    expect(await isEndedAt(SUBMITTED + 30 + WAITING_ENDS - 1)).toBe(false);
    expect(await isEndedAt(SUBMITTED + 30 + WAITING_ENDS + 1)).toBe(true);
  });

  it("does not prolong the run if it fails", async () => {
    await failAttempt(database, attemptOf(claim), { fault: new Fault("provider_error").body(), isFinal: false });
    expect(await isEndedAt(WAITING_ENDS + 1)).toBe(true);
  });
});

it("a run whose request is in flight in a process that lives is not ended by the watchdog", async () => {
  await claimAttemptAt(database, claim, fake);
  const hold = "update attempts set lease_until = now() + interval '1 day' where run_id = $1";
  await database.query("test.hold", hold, [claim.run_id]);
  expect(await isEndedAt(10 * WAITING_ENDS)).toBe(false);
  await saveTicket(database, attemptOf(claim), { ticket: { job: "j" } }, 1);
  expect(await isEndedAt(20 * WAITING_ENDS)).toBe(true);
});

it("after an outage of PostgreSQL the watchdog ends no run before the grace is over", async () => {
  services.steadiness.isSteady = () => false;
  expect(await isEndedAt(WAITING_ENDS + 1)).toBe(false);
});
