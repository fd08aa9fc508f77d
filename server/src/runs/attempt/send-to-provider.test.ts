// What a submission makes of every kind of failure, on a real database.

import { beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { claimAttemptAt, createFakeProvider, done, requestTo, requeue } from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { FREE } from "../../prices/price.ts";
import { contentRefused, modelUnavailable, providerBusy, providerFault } from "../../providers/call-provider.ts";
import type { JobProgress } from "../../providers/provider.ts";
import { sendToProvider } from "./send-to-provider.ts";

const { database, runtime, first, second, claim, providers, services, use, latestAttempt: stateOf } = setUpStep();
beforeEach(() => use(first));

const send = async (attemptNumber = 1, options = {}) => {
  const attempt = { ...(await claimAttemptAt(database.db, claim, first, attemptNumber)), ...options };
  return sendToProvider(services, claim, requestTo(first), attempt);
};
const unsent = () => providerFault("provider_error", { kind: "unsent", cause: "ECONNREFUSED" });
const failWith = (fault: Error) => {
  first.submit = () => Promise.reject(fault);
};

describe("a submission", () => {
  it("that is accepted stores its ticket", async () => {
    expect(await send()).toEqual({ state: "running", attemptNumber: 1, ticket: { job: `${claim.run_id}.0.1` } });
    expect(await stateOf()).toMatchObject({ state: "submitted", ticket: { job: `${claim.run_id}.0.1` } });
  });

  it("that produced a result after the claim was lost reports the lost claim", async () => {
    first.submit = async () => {
      await requeue(database.db, claim);
      return done("late");
    };
    expect(await send()).toEqual({ state: "claim_lost" });
  });

  it("stores its ticket even if the claim was lost meanwhile, because the job is paid for", async () => {
    first.submit = async (key) => {
      await requeue(database.db, claim);
      return { state: "running", ticket: { job: key } };
    };
    await send();
    expect(await stateOf()).toMatchObject({ state: "submitted" });
  });

  it("whose response was lost keeps its attempt, and its outcome can be resolved at once", async () => {
    failWith(new Error("socket hang up"));
    expect(await send()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 1 });
    const attempt = await stateOf();
    expect([attempt.state, attempt.lease_seconds <= 0]).toEqual(["intent", true]);
    expect(providers.failures).toEqual(["first"]);
  });

  it("that could not be built was not sent, and is repeated without blaming the provider", async () => {
    first.isUnableToSend = true;
    expect(await send()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 2 });
    expect([(await stateOf()).state, providers.failures]).toEqual(["failed", []]);
    expect(runtime.messages).toEqual(["building the submission failed; nothing was sent"]);
    expect(await send(9)).toEqual({ state: "retry", attemptNumber: 10, delaySeconds: 30 });
  });

  it("to a busy provider waits as long as the provider says", async () => {
    failWith(providerBusy("429", 17));
    expect(await send()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 17 });
    failWith(providerBusy("429"));
    expect(await send(2)).toEqual({ state: "retry", attemptNumber: 3, delaySeconds: 2 });
  });

  it("that never left is repeated twice, and then fails the run", async () => {
    failWith(unsent());
    expect(await send(1)).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 2 });
    expect(await send(2)).toEqual({ state: "retry", attemptNumber: 3, delaySeconds: 4 });
    await expect(send(3)).rejects.toMatchObject({ code: "provider_error" });
    expect(await stateOf()).toMatchObject({ state: "failed", is_final: true });
  });

  const overLimit = () =>
    providerFault("provider_rejected_input", { kind: "over_limit" }, { reason: "image_too_large" });

  it("that exceeds a limit of the offer goes to the next offer, equivalent or not, without blaming the provider", async () => {
    use(first, createFakeProvider("other", { equivalence: "none", preference: 3 }));
    failWith(overLimit());
    expect(await send()).toMatchObject({ state: "retry", attemptNumber: 2, offer: { provider: "other" } });
    expect([providers.failures, (await stateOf()).is_final]).toEqual([[], false]);
  });

  it("that exceeds a limit of the only offer fails the run", async () => {
    failWith(overLimit());
    await expect(send()).rejects.toMatchObject({ code: "provider_rejected_input" });
    expect(await stateOf()).toMatchObject({ state: "failed", is_final: true });
  });

  it("that waits for its turn on this machine waits on, and is not moved to a provider that costs money", async () => {
    createFakeProvider("first", { equivalence: "flux", recovery: "free", price: FREE }, first);
    use(first, second);
    failWith(providerBusy("another job is running", 5));
    expect(await send()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 5 });
    expect(providers.failures).toEqual([]);
  });

  it("that was refused for its content fails the run and is sent nowhere else", async () => {
    use(first, second);
    failWith(contentRefused("policy"));
    await expect(send()).rejects.toMatchObject({ code: "content_refused" });
    expect([providers.failures, second.submissions]).toEqual([[], []]);
    expect(await stateOf()).toMatchObject({ state: "failed", is_final: true });
  });
});

describe("failover", () => {
  beforeEach(() => use(first, second));

  it.each([
    ["is busy", providerBusy("429", 17)],
    ["cannot be reached", unsent()],
    ["does not offer the model any more", modelUnavailable("404", 404)],
  ])("moves to an equivalent offer if the provider %s", async (_, fault) => {
    failWith(fault);
    expect(await send()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 0, offer: second.offer });
    expect(providers.failures).toEqual(["first"]);
  });

  it("skips offers with an open circuit breaker, and offers that had the request before", async () => {
    failWith(providerBusy("429"));
    providers.open.add("second");
    expect(await send()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 2 });
    providers.open.clear();
    await claimAttemptAt(database.db, claim, second, 2);
    expect(await send(3)).toEqual({ state: "retry", attemptNumber: 4, delaySeconds: 2 });
  });
});

describe("a resent request that the provider may already have accepted", () => {
  it.each([
    ["is answered with busy", () => failWith(providerBusy("429", 5)), 5],
    ["does not leave", () => failWith(unsent()), 2],
    ["cannot be built", () => Object.assign(first, { isUnableToSend: true }), 2],
  ])("keeps its attempt and its key if it %s", async (_, prepare, delaySeconds) => {
    use(first, second);
    prepare();
    expect(await send(1, { mayBeAccepted: true })).toEqual({ state: "wait", attemptNumber: 1, delaySeconds });
    expect((await stateOf()).state).toBe("intent");
    expect(second.submissions).toEqual([]);
  });
});

it("the lease is renewed while a provider responds only with the result", async () => {
  const clock = createManualClock();
  runtime.clock = clock;
  try {
    createFakeProvider("first", { synchronousSeconds: 300 }, first);
    use(first);
    first.submit = async () => {
      await clock.advance(24_000);
      return done("pixels");
    };
    const executed = vi.spyOn(database.db, "execute");
    expect(await send()).toMatchObject({ state: "produced" });
    const renewals = executed.mock.calls.filter(([{ name }]) => name === "attempts.renew_lease");
    expect(renewals).toHaveLength(2);
    expect(clock.timers()).toEqual([]);
  } finally {
    vi.restoreAllMocks();
  }
});

describe("a request that the provider does not answer", () => {
  const hang = async () => {
    const clock = createManualClock();
    runtime.clock = clock;
    use(first);
    const answer = Promise.withResolvers<JobProgress>();
    first.submit = () => answer.promise;
    const sending = send();
    await clock.waitForTimer(22_500);
    await vi.waitUntil(() => first.submissions.length === 1);
    return { clock, answer, sending };
  };

  it("counts as a failure of its offer after three quarters of its time, and once", async () => {
    const { clock, answer, sending } = await hang();
    await clock.advance(22_499);
    expect(providers.failures).toEqual([]);
    await clock.advance(1);
    expect(providers.failures).toEqual(["first"]);
    answer.reject(new Error("the provider took too long"));
    expect(await sending).toMatchObject({ state: "wait" });
    expect(providers.failures).toEqual(["first"]);
  });

  it("in that time does not count as a failure", async () => {
    const { clock, answer, sending } = await hang();
    answer.resolve({ state: "running", ticket: { job: "j" } });
    expect(await sending).toMatchObject({ state: "running" });
    await clock.advance(60_000);
    expect(providers.failures).toEqual([]);
  });
});
