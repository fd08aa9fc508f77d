// Attempts whose outcome is unknown, by what the provider offers for recovery.
import { beforeEach, describe, expect, it } from "vitest";
import {
  attemptOf,
  claimAttemptAt,
  done,
  requestTo,
  requeue,
  SimulatedCrash,
} from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { expireAttemptLease, failAttempt } from "../../db/attempts/attempts.ts";
import { saveTicket } from "../../db/attempts/tickets.ts";
import { Fault } from "../../faults/faults.ts";
import { providerBusy } from "../../providers/call-provider.ts";
import type { Offer } from "../../providers/provider.ts";
import { resolveUnknownOutcome } from "./unknown-outcome.ts";

const { database, runtime, first, second, claim, providers, services, use, ...step } = setUpStep();
const stateOf = step.latestAttempt;
const attempt = () => attemptOf(claim);

/** A run whose first attempt was claimed; its lease has expired unless `hasLease`. */
const prepare = async (offer: Partial<Offer>, { timeouts = {}, hasLease = false, deadlineSeconds = 600 } = {}) => {
  await step.reset({ offer, timeouts, deadlineSeconds });
  await claimAttemptAt(database.db, claim, first);
  if (!hasLease) await expireAttemptLease(database.db, attempt());
};
const resolve = (as = claim, request = requestTo(first)) => resolveUnknownOutcome(services, as, request);

describe("an attempt", () => {
  beforeEach(() => prepare({ recovery: "find" }, { hasLease: true }));

  it("is left alone while its lease holds", async () => {
    const result = await resolve();
    expect(result).toMatchObject({ state: "wait", attemptNumber: 1 });
    expect((result as { delaySeconds: number }).delaySeconds).toBeGreaterThan(34);
    expect(first.submissions).toEqual([]);
  });

  it.each(["none", "find", "replay"] as const)(
    "that this process is still working on is left alone after its lease has expired, with recovery %s",
    async (recovery) => {
      await prepare({ recovery });
      const { promise, resolve: end } = Promise.withResolvers<void>();
      const working = services.inFlight.track(attempt(), () => promise);
      expect(await resolve()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 5 });
      expect([first.submissions, (await stateOf()).state]).toEqual([[], "intent"]);
      end();
      await working;
    },
  );

  it.each(["none", "find", "replay"] as const)(
    "is left alone until its process has had the time to renew the lease after an outage, with recovery %s",
    async (recovery) => {
      await prepare({ recovery }, { hasLease: true });
      const elsewhere = "00000000-0000-4000-8000-000000000002";
      const sql = "update attempts set lease_until = now() - interval '1 minute', spool_id = $2 where run_id = $1";
      await database.db.query("test.outage", sql, [claim.run_id, elsewhere]);
      services.steadiness.isSteady = () => false;
      expect(await resolve()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 5 });
      expect([first.submissions, (await stateOf()).state]).toEqual([[], "intent"]);
    },
  );

  it("that has a ticket is adopted with the offer that accepted it", async () => {
    await saveTicket(database.db, attempt(), { ticket: { job: "j" } }, 1);
    expect(await resolve(claim, requestTo(second))).toEqual({
      ...{ state: "running", attemptNumber: 1, offer: first.offer },
    });
  });

  it("that failed for good fails the run with the same fault", async () => {
    const fault = new Fault("content_refused", { by: "provider" });
    await failAttempt(database.db, attempt(), { fault: fault.body(), isFinal: true });
    await expect(resolve()).rejects.toMatchObject({ code: "content_refused", details: { by: "provider" } });
  });

  it("that failed is followed by the next one", async () => {
    await failAttempt(database.db, attempt(), { fault: new Fault("provider_error").body(), isFinal: false });
    expect(await resolve()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 0 });
  });

  it("that does not exist is an internal error", async () => {
    await expect(resolve(claim, requestTo(first, { requestIndex: 5 }))).rejects.toMatchObject({
      code: "internal_error",
    });
  });

  it("whose offer is no longer configured fails the run", async () => {
    await expireAttemptLease(database.db, attempt());
    use(second);
    await expect(resolve()).rejects.toMatchObject({ code: "model_unavailable" });
  });
});

describe("with recovery by replay", () => {
  beforeEach(() => prepare({ recovery: "replay" }));

  it("the request is sent again with the same key, to the same offer", async () => {
    expect(await resolve(claim, requestTo(second))).toEqual({
      ...{ state: "running", attemptNumber: 1, ticket: expect.any(Object), offer: first.offer },
    });
    expect([first.submissions, second.submissions]).toEqual([[`${claim.run_id}.0.1`], []]);
  });

  it("a result that was stored before a crash is returned, and nothing is sent again", async () => {
    first.submit = async () => done("pixels");
    const produced = await resolve();
    expect(produced).toMatchObject({ state: "produced", offer: first.offer });
    expect(await resolve()).toEqual(produced);
    expect(first.submissions).toHaveLength(1);
    await requeue(database.db, claim);
    expect(await resolve()).toEqual({ state: "claim_lost" });
  });

  it("a busy provider does not change the key, because the first request may have been accepted", async () => {
    first.submit = () => Promise.reject(providerBusy("429", 4));
    expect(await resolve()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 4 });
    expect(second.submissions).toEqual([]);
  });

  it("only one of two processes sends", async () => {
    let second: ReturnType<typeof resolve> | undefined;
    first.submit = async (key) => {
      second = resolve();
      expect(await second).toMatchObject({ state: "wait", attemptNumber: 1 });
      return { state: "running", ticket: { job: key } };
    };
    expect(await resolve()).toMatchObject({ state: "running" });
    expect([first.submissions.length, second]).toEqual([1, expect.any(Promise)]);
  });

  it("a process with a stale claim sends nothing", async () => {
    await requeue(database.db, claim);
    expect(await resolve()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 1 });
    expect(first.submissions).toEqual([]);
  });
});

describe("with recovery by lookup", () => {
  it("a job that the provider knows is adopted", async () => {
    await prepare({ recovery: "find" });
    first.find = async (key) => ({ job: key });
    expect(await resolve()).toEqual({
      state: "running",
      attemptNumber: 1,
      offer: first.offer,
    });
    expect(await stateOf()).toMatchObject({ state: "submitted", ticket: { job: `${claim.run_id}.0.1` } });
  });

  it("a job that the provider does not know is looked up again after a grace period", async () => {
    await prepare({ recovery: "find" });
    expect(await resolve()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 10.2 });
    const result = await resolve();
    expect((result as { delaySeconds: number }).delaySeconds).toBeLessThan(10.2);
    expect(first.submissions).toEqual([]);
  });

  it("a job that is still unknown after the grace period is sent again", async () => {
    await prepare({ recovery: "find" }, { timeouts: { lookupGraceSeconds: 0 } });
    await resolve();
    expect(await resolve()).toEqual({
      state: "running",
      attemptNumber: 1,
      ticket: expect.any(Object),
      offer: first.offer,
    });
    expect(first.submissions).toHaveLength(1);
  });

  it("the request goes to an equivalent offer if the circuit breaker of its own offer is open", async () => {
    await prepare({ recovery: "find" }, { timeouts: { lookupGraceSeconds: 0 } });
    await resolve();
    providers.open.add("first");
    expect(await resolve()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 0, offer: second.offer });
    expect((await stateOf()).state).toBe("failed");
  });

  it("a lookup that fails is repeated until the deadline, and stops when the claim is lost", async () => {
    await prepare({ recovery: "find" });
    first.find = () => Promise.reject(new Error("timeout"));
    expect(await resolve()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 5 });
    await requeue(database.db, claim);
    expect(await resolve()).toEqual({ state: "claim_lost" });

    await prepare({ recovery: "find" }, { deadlineSeconds: -1 });
    first.find = () => Promise.reject(new Error("timeout"));
    await expect(resolve()).rejects.toMatchObject({ code: "provider_outcome_unknown" });
    expect((await stateOf()).state).toBe("unknown");
  });

  it("a provider that cannot tell leaves the callback as the only way", async () => {
    await prepare({ recovery: "find" });
    first.provider.parseCallback = async () => undefined;
    first.find = () => Promise.reject(new Fault("provider_outcome_unknown"));
    expect(await resolve()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 15 });
  });
});

describe("without recovery", () => {
  it("the callback is awaited for its grace period", async () => {
    await prepare({ recovery: "none" });
    first.provider.parseCallback = async () => undefined;
    expect(await resolve()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 15 });
    await saveTicket(database.db, attempt(), { ticket: { job: "from the callback" } }, 1);
    expect(await resolve()).toMatchObject({ state: "running" });
  });

  it("a provider that never calls back is not waited for", async () => {
    await prepare({ recovery: "none" });
    await expect(resolve()).rejects.toMatchObject({ code: "provider_outcome_unknown" });
    expect(await stateOf()).toMatchObject({ state: "failed", is_final: true });
    // Repeated after a crash, the step fails with the same fault and sends nothing.
    await expect(resolve()).rejects.toMatchObject({ code: "provider_outcome_unknown" });
    expect(first.submissions).toEqual([]);
  });

  it("a crash after giving up does not send the request again", async () => {
    await prepare({ recovery: "none" });
    runtime.crashAt = "given_up";
    await expect(resolve()).rejects.toThrow(SimulatedCrash);
    await expect(resolve()).rejects.toMatchObject({ code: "provider_outcome_unknown" });
    expect(first.submissions).toEqual([]);
  });

  it("an operator can choose to submit again", async () => {
    await prepare({ recovery: "none", on_unknown: "resubmit" });
    expect(await resolve()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 0 });
  });
});
