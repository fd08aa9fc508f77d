// The paid step on a real database: no request is sent without a claim and a lease, and none is sent twice.

import { afterEach, describe, expect, it } from "vitest";
import {
  attemptOf,
  cancelRun,
  claimRun,
  createFakeProvider,
  done,
  jobFor,
  requestTo,
  requeue,
  SimulatedCrash,
  sha256,
  TENANT,
} from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { expireAttemptLease, failAttempt, findLatestAttempt } from "../../db/attempts/attempts.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { requeueExpiredClaims } from "../../db/runs/open-runs.ts";
import { claimQueuedRuns } from "../../db/runs/queue.ts";
import { findRun } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";
import { CONNECTIONS_PER_ORIGIN } from "../../outbound/provider-http-client.ts";
import { providerBusy } from "../../providers/call-provider.ts";
import type { JobProgress } from "../../providers/provider.ts";
import { submit } from "./submit.ts";

const { database, runtime, first, second, providers, services, use } = setUpStep();
const FIRST = { attemptNumber: 1, wakeupId: "wakeup-1" };

describe("submit", () => {
  it("sends the request once and stores the ticket", async () => {
    const claim = await claimRun(database.db);
    expect(await submit(services, claim, requestTo(first), FIRST)).toEqual({
      state: "running",
      attemptNumber: 1,
      ticket: { job: `${claim.run_id}.0.1` },
    });
    expect(first.submissions).toEqual([`${claim.run_id}.0.1`]);
    expect(await findLatestAttempt(database.db, claim.run_id, 0)).toMatchObject({
      ...{ provider: "first", state: "submitted", ticket: { job: `${claim.run_id}.0.1` } },
    });
  });

  it("stores the result of a provider that responds with it", async () => {
    first.submit = async () => done("pixels");
    const claim = await claimRun(database.db);
    const result = await submit(services, claim, requestTo(first), FIRST);
    expect(result).toMatchObject({ state: "produced", files: [{ sha256: sha256("pixels") }], warnings: [] });
  });

  it("starts a run that is not started, also if it must wait for a slot", async () => {
    const statusOf = async ({ run_id }: RunClaim) => (await findRun(database.db, TENANT, run_id))!.status;
    const startsRun = { ...requestTo(first), startsRun: true };
    const claim = await claimRun(database.db, { isStarted: false });
    expect(await submit(services, claim, startsRun, FIRST)).toMatchObject({ state: "running" });
    expect(await statusOf(claim)).toBe("processing");
    const waiting = await claimRun(database.db, { isStarted: false });
    const closed = createFakeProvider("closed", { rateLimit: { concurrent: 0 } });
    use(closed);
    expect(await submit(services, waiting, { ...requestTo(closed), startsRun: true }, FIRST)).toMatchObject({
      state: "wait",
    });
    expect(await statusOf(waiting)).toBe("processing");
  });

  it("sends nothing if a later epoch has claimed the run", async () => {
    const claim = await claimRun(database.db);
    await requeue(database.db, claim);
    expect(await submit(services, claim, requestTo(first), FIRST)).toEqual({ state: "claim_lost" });
    expect(first.submissions).toEqual([]);
  });

  it("sends nothing if the run was canceled", async () => {
    const claim = await claimRun(database.db);
    await cancelRun(database.db, claim);
    expect(await submit(services, claim, requestTo(first), FIRST)).toEqual({ state: "canceled" });
    expect(first.submissions).toEqual([]);
  });

  it("adopts the job if it is repeated after a crash", async () => {
    const claim = await claimRun(database.db);
    await submit(services, claim, requestTo(first), FIRST);
    expect(await submit(services, claim, requestTo(first), { ...FIRST, wakeupId: "wakeup-2" })).toEqual({
      ...{ state: "running", attemptNumber: 1, offer: first.offer },
    });
    expect(first.submissions).toHaveLength(1);
  });

  it("returns the stored result if it is repeated after a crash", async () => {
    first.submit = async () => done("pixels");
    const claim = await claimRun(database.db);
    const before = await submit(services, claim, requestTo(first), FIRST);
    expect(await submit(services, claim, requestTo(first), FIRST)).toEqual({ ...before, offer: first.offer });
    expect(first.submissions).toHaveLength(1);
  });

  it.each(["intent_written", "answer_read"] as const)("waits for the lease after a crash at %s", async (crashPoint) => {
    const claim = await claimRun(database.db);
    runtime.crashAt = crashPoint;
    await expect(submit(services, claim, requestTo(first), FIRST)).rejects.toThrow(SimulatedCrash);
    const sent = first.submissions.length;
    const repeated = await submit(services, claim, requestTo(first), FIRST);
    expect(repeated).toMatchObject({ state: "wait", attemptNumber: 1 });
    expect((repeated as { delaySeconds: number }).delaySeconds).toBeGreaterThan(30);
    expect(first.submissions).toHaveLength(sent);
  });

  it("resolves an attempt of an earlier epoch at the provider that got it", async () => {
    const claim = await claimRun(database.db);
    runtime.crashAt = "answer_read";
    await expect(submit(services, claim, requestTo(second), FIRST)).rejects.toThrow(SimulatedCrash);
    await expireAttemptLease(database.db, attemptOf(claim));
    second.find = async (key) => ({ job: key });
    const later = await requeue(database.db, claim);
    expect(await submit(services, later, requestTo(first), FIRST)).toEqual({
      ...{ state: "running", attemptNumber: 1, offer: second.offer },
    });
    expect(first.submissions).toEqual([]);
  });
});

describe("a submission that may not be sent now", () => {
  it("fails over while the circuit breaker of its offer is open", async () => {
    providers.open.add("first");
    const claim = await claimRun(database.db);
    expect(await submit(services, claim, requestTo(first), FIRST)).toEqual({
      ...{ state: "retry", attemptNumber: 1, delaySeconds: 0, offer: second.offer },
    });
  });

  it("waits if no equivalent offer is left, and notices a lost claim and a cancellation", async () => {
    providers.open.add("first").add("second");
    const claim = await claimRun(database.db);
    expect(await submit(services, claim, requestTo(first), FIRST)).toEqual({
      ...{ state: "wait", attemptNumber: 1, delaySeconds: 7 },
    });
    await cancelRun(database.db, claim);
    expect(await submit(services, claim, requestTo(first), FIRST)).toEqual({ state: "canceled" });
    await requeue(database.db, claim);
    expect(await submit(services, claim, requestTo(first), FIRST)).toEqual({ state: "claim_lost" });
  });

  it("is resolved at its own provider if it was started before the circuit breaker opened", async () => {
    const claim = await claimRun(database.db);
    await submit(services, claim, requestTo(first), FIRST);
    providers.open.add("first");
    expect(await submit(services, claim, requestTo(first), FIRST)).toMatchObject({ state: "running" });
  });

  it("fails the run with run_timeout if the deadline has passed", async () => {
    providers.open.add("first").add("second");
    const claim = await claimRun(database.db, { deadlineSeconds: -1 });
    await expect(submit(services, claim, requestTo(first), FIRST)).rejects.toMatchObject({ code: "run_timeout" });
  });

  it("is not sent any more once it was given up at the deadline, not even by a process that was about to send it", async () => {
    const before = first.submissions.length;
    providers.open.add("first").add("second");
    const claim = await claimRun(database.db, { deadlineSeconds: -1 });
    await expect(submit(services, claim, requestTo(first), FIRST)).rejects.toMatchObject({ code: "run_timeout" });
    providers.open.clear();
    await expect(submit(services, claim, requestTo(first), FIRST)).rejects.toMatchObject({ code: "run_timeout" });
    expect(first.submissions.length).toBe(before);
    await expect(submit(services, await requeue(database.db, claim), requestTo(first), FIRST)).rejects.toMatchObject({
      code: "run_timeout",
    });
    expect(first.submissions.length).toBe(before);
  });

  it("waits past the deadline if it was sent before, as after a long outage, and is then resolved and not sent again", async () => {
    const slow = createFakeProvider("slow-later", { rateLimit: { perMinute: 1 } });
    use(slow);
    const claim = await claimRun(database.db);
    await submit(services, claim, requestTo(slow), FIRST);
    const later = await requeue(database.db, claim);
    await database.db.query(
      "test.outage",
      `with aged as (update attempts set submitted_at = now() - interval '9 hours' where run_id = $1)
       update open_runs set deadline_at = now() - interval '8 hours' where run_id = $1`,
      [claim.run_id],
    );
    const setTokens = (tokens: number) =>
      database.db.query(
        "test.tokens",
        "update provider_rate_limits set tokens = $1, filled_at = clock_timestamp() where provider = 'slow-later'",
        [tokens],
      );
    await setTokens(0);
    expect(await submit(services, later, requestTo(slow), FIRST)).toMatchObject({ state: "wait", attemptNumber: 1 });
    await setTokens(1);
    expect(await submit(services, later, requestTo(slow), FIRST)).toMatchObject({ state: "running" });
    expect(slow.submissions).toEqual([`${claim.run_id}.0.1`]);
  });

  it("waits for one of the provider's concurrent slots", async () => {
    const narrow = createFakeProvider("narrow", { rateLimit: { concurrent: 1 } });
    use(narrow);
    const [claim, other] = [await claimRun(database.db), await claimRun(database.db)];
    expect(await submit(services, claim, requestTo(narrow), FIRST)).toMatchObject({ state: "running" });
    expect(await submit(services, other, requestTo(narrow), FIRST)).toMatchObject({ state: "wait", attemptNumber: 1 });
    expect(narrow.submissions).toHaveLength(1);
  });

  it("waits for the provider's rate limit", async () => {
    const slow = createFakeProvider("slow", { rateLimit: { perMinute: 1 } });
    use(slow);
    const results = [];
    for (let n = 0; n < 3; n++)
      results.push(await submit(services, await claimRun(database.db), requestTo(slow), FIRST));
    expect(results.at(-1)).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 15 });
  });

  it("moves from a retired offer to an equivalent one, and fails without one", async () => {
    const retired = createFakeProvider("retired", { equivalence: "flux", lifecycle: { state: "retired" } });
    use(retired, second);
    const claim = await claimRun(database.db);
    expect(await submit(services, claim, requestTo(retired), FIRST)).toMatchObject({
      state: "retry",
      offer: second.offer,
    });
    use(retired);
    await expect(submit(services, claim, requestTo(retired), FIRST)).rejects.toMatchObject({
      code: "model_unavailable",
    });
  });

  it("fails if its offer is no longer configured", async () => {
    const claim = await claimRun(database.db);
    use(second);
    await expect(submit(services, claim, requestTo(first), FIRST)).rejects.toMatchObject({ code: "model_unavailable" });
  });
});

it("a retry after a busy provider is a new attempt with a new key", async () => {
  use(first);
  first.submit = async () => Promise.reject(providerBusy("429", 3));
  const claim = await claimRun(database.db);
  const request = requestTo(first, { job: jobFor() as never });
  expect(await submit(services, claim, request, FIRST)).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 3 });
  // Repeated after a crash, the step returns the same and sends nothing.
  expect(await submit(services, claim, request, FIRST)).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 0 });
  expect(first.submissions).toEqual([`${claim.run_id}.0.1`]);
});

it("the reconciler leaves a run alone while it waits as long as a busy provider asked for", async () => {
  use(first);
  first.submit = async () => Promise.reject(providerBusy("429", 300));
  const claim = await claimRun(database.db);
  expect(await submit(services, claim, requestTo(first), FIRST)).toMatchObject({ state: "retry", delaySeconds: 300 });
  // 299 seconds later.
  const age = "update open_requests set claim_expires_at = claim_expires_at - interval '299 seconds' where run_id = $1";
  await database.db.query("test.age", age, [claim.run_id]);
  await requeueExpiredClaims(database.db, 1000);
  const [row] = await database.db.query("test.epoch", "select epoch from open_runs where run_id = $1", [claim.run_id]);
  expect(row).toEqual({ epoch: claim.epoch });
});

describe("a request of a suspended tenant", () => {
  const suspend = (isSuspended: boolean) =>
    database.owner.query("test.suspend", "update tenants set suspended_at = $2 where tenant_id = $1", [
      TENANT,
      isSuspended ? new Date() : null,
    ]);
  afterEach(() => suspend(false));
  const queue = [{ tenant_id: TENANT, lane: "fake", count: 1000 }];
  const findOpenRun = async ({ run_id }: RunClaim) => {
    const sql = `select epoch, dispatched_at is null as is_queued,
      (select count(*) from open_requests where run_id = $1)::int as requests from open_runs where run_id = $1`;
    return (await database.db.query("test.open_run", sql, [run_id]))[0];
  };

  it("is not submitted: its run returns to the queue, frees its provider slot and continues when the tenant is active", async () => {
    const narrow = createFakeProvider("narrow-too", { rateLimit: { concurrent: 1 } });
    use(narrow);
    const claim = await claimRun(database.db);
    await suspend(true);
    expect(await submit(services, claim, requestTo(narrow), FIRST)).toEqual({ state: "claim_lost" });
    expect(await findOpenRun(claim)).toEqual({ epoch: claim.epoch + 1, is_queued: true, requests: 0 });
    expect(await claimQueuedRuns(database.db, queue)).toEqual([]);
    expect(await findLatestAttempt(database.db, claim.run_id, 0)).toBeUndefined();
    await suspend(false);
    const taken = await claimQueuedRuns(database.db, queue);
    const next = taken.find(({ run_id }) => run_id === claim.run_id)!;
    expect(await submit(services, next, requestTo(narrow), FIRST)).toMatchObject({ state: "running" });
    expect(narrow.submissions).toHaveLength(1);
  });

  it("that was submitted before is adopted, because it is paid", async () => {
    const claim = await claimRun(database.db);
    await submit(services, claim, requestTo(first), FIRST);
    await suspend(true);
    expect(await submit(services, claim, requestTo(first), FIRST)).toMatchObject({ state: "running" });
    expect(first.submissions).toHaveLength(1);
  });

  it("waits while another request of its run is at a provider, and returns the run to the queue afterwards", async () => {
    const claim = await claimRun(database.db);
    await submit(services, claim, requestTo(first), FIRST);
    await suspend(true);
    const later = requestTo(first, { requestIndex: 100 });
    expect(await submit(services, claim, later, FIRST)).toMatchObject({ state: "wait", attemptNumber: 1 });
    expect(await findOpenRun(claim)).toMatchObject({ epoch: claim.epoch, is_queued: false });
    await failAttempt(database.db, attemptOf(claim), { fault: new Fault("provider_error").body(), isFinal: false });
    expect(await submit(services, claim, later, FIRST)).toEqual({ state: "claim_lost" });
    expect(first.submissions).toHaveLength(1);
  });

  it("is not submitted again if its provider does not know it", async () => {
    const claim = await claimRun(database.db);
    runtime.crashAt = "intent_written";
    await expect(submit(services, claim, requestTo(first), FIRST)).rejects.toThrow(SimulatedCrash);
    await expireAttemptLease(database.db, attemptOf(claim));
    await suspend(true);
    await submit(services, claim, requestTo(first), FIRST);
    await database.db.query("test.age_attempts", "update attempts set unknown_since = now() - interval '1 hour'");
    expect(await submit(services, claim, requestTo(first), FIRST)).toMatchObject({ state: "retry", attemptNumber: 2 });
    expect(await submit(services, claim, requestTo(first), { ...FIRST, attemptNumber: 2 })).toEqual({
      state: "claim_lost",
    });
    expect(first.submissions).toEqual([]);
  });
});

describe("a submission without a free connection to its provider", () => {
  it("waits and is not claimed, while others are in flight, and is sent when one of them has ended", async () => {
    const answers = Promise.withResolvers<JobProgress>();
    first.submit = () => answers.promise;
    const count = CONNECTIONS_PER_ORIGIN * 0.75;
    const claims = await Promise.all(Array.from({ length: count + 1 }, () => claimRun(database.db)));
    const submitOne = (claim: RunClaim) => submit(services, claim, requestTo(first), FIRST);
    const inFlight = claims.slice(0, count).map(submitOne);
    const last = claims.at(-1)!;
    expect(await submitOne(last)).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 1 });
    expect(await findLatestAttempt(database.db, last.run_id, 0)).toBeUndefined();
    answers.resolve({ state: "running", ticket: { job: "j" } });
    await Promise.all(inFlight);
    expect(await submitOne(last)).toMatchObject({ state: "running" });
    expect(first.submissions).toHaveLength(count + 1);
  });

  it("has the connection of one that failed before it was sent", async () => {
    providers.circuitBreaker.tryAcquire = () => Promise.reject(new Fault("dependency_unavailable"));
    const claim = await claimRun(database.db);
    for (let count = 0; count <= CONNECTIONS_PER_ORIGIN; count++)
      await expect(submit(services, claim, requestTo(first), FIRST)).rejects.toThrow();
    providers.circuitBreaker.tryAcquire = async () => true;
    expect(await submit(services, claim, requestTo(first), FIRST)).toMatchObject({ state: "running" });
  });
});
