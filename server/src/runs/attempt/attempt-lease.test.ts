// A process that is stalled between its claim and its request, or during it, while other processes go on.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import {
  claimRun,
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestProviders,
  type FakeProvider,
  requestTo,
  type TestRuntime,
} from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { findLatestAttempt } from "../../db/attempts/attempts.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { providerBusy } from "../../providers/call-provider.ts";
import type { JobProgress, Offer } from "../../providers/provider.ts";
import { createProviderContext } from "../offers/provider-context.ts";
import { submit } from "./submit.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const clock = createManualClock();
let runtime: TestRuntime;
let fake: FakeProvider;
let providers: ReturnType<typeof createTestProviders>;
let claim: RunClaim;
const prepare = async (offer: Partial<Offer>) => {
  runtime = { ...createRuntime(), clock };
  fake = createFakeProvider("fake", offer);
  providers = createTestProviders([fake], clock);
  claim = await claimRun(database.db);
};
const submitNow = () => {
  const services = createStepServices({ database: database.db, runtime, providers });
  return submit(services, claim, requestTo(fake), { attemptNumber: 1, wakeupId: "wakeup" });
};
/** The process does nothing for this long after its claim was stored. */
const stallAfterClaim = (seconds: number) => {
  runtime.crashPoint = (name) => {
    if (name === "intent_written") clock.at += seconds * 1000;
  };
};
const expireLease = () =>
  database.db.query("test.expire", "update attempts set lease_until = now() where run_id = $1", [claim.run_id]);
const stateOf = async () => (await findLatestAttempt(database.db, claim.run_id, 0))!;

describe("a process that stalls between its claim and its request", () => {
  it.each([31, 36])("for %i seconds sends nothing, and the next attempt does", async (seconds) => {
    await prepare({ recovery: "none" });
    stallAfterClaim(seconds);
    expect(await submitNow()).toMatchObject({ state: "retry", attemptNumber: 2 });
    expect([fake.submissions, providers.failures, (await stateOf()).state]).toEqual([[], [], "failed"]);
  });

  it("longer than its lease sends nothing, also to a provider that takes minutes to respond", async () => {
    await prepare({ recovery: "none", synchronousSeconds: 300 });
    stallAfterClaim(36);
    expect(await submitNow()).toMatchObject({ state: "retry", attemptNumber: 2 });
    expect(fake.submissions).toEqual([]);
  });

  it("changes nothing if another process has taken over its attempt", async () => {
    await prepare({ recovery: "replay" });
    let other: JobProgress["state"] | string = "";
    const stalled = createStepServices({ database: database.db, runtime, providers });
    const submitting = submit(
      {
        ...stalled,
        crashPoint: (name) => {
          if (name === "intent_written") clock.at += 40_000;
        },
        providers: {
          ...providers,
          createContext: (...context) => {
            const created = providers.createContext(...context);
            return {
              ...created,
              send: async (...request) => {
                await expireLease();
                runtime.clock = createManualClock(clock.at);
                other = (await submitNow()).state;
                return created.send(...request);
              },
            };
          },
        },
      },
      claim,
      requestTo(fake),
      { attemptNumber: 1, wakeupId: "wakeup" },
    );
    expect(await submitting).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 1 });
    expect(other).toBe("running");
    expect(await stateOf()).toMatchObject({ state: "submitted", ticket: { job: `${claim.run_id}.0.1` } });
  });
});

it("the response to a stalled process does not undo what the process did that took over its attempt", async () => {
  await prepare({ recovery: "replay" });
  fake.submit = async (key) => {
    if (fake.submissions.length > 1) return { state: "running", ticket: { job: key } };
    // The process is stopped until its lease has expired and another process has sent the same key.
    await expireLease();
    expect(await submitNow()).toMatchObject({ state: "running" });
    throw providerBusy("429", 3);
  };
  expect(await submitNow()).toEqual({ state: "wait", attemptNumber: 1, delaySeconds: 1 });
  expect(await submitNow()).toMatchObject({ state: "running", attemptNumber: 1 });
  expect(await stateOf()).toMatchObject({ state: "submitted", ticket: { job: `${claim.run_id}.0.1` } });
  expect(fake.submissions).toEqual([`${claim.run_id}.0.1`, `${claim.run_id}.0.1`]);
});

it("the timeout of a request counts from when the lease was asked for", async () => {
  const timeouts: number[] = [];
  const http = {
    sendToProvider: async (_url: string, { timeoutSeconds }: { timeoutSeconds: number }) => {
      timeouts.push(timeoutSeconds);
      return { status: 200, header: () => undefined, text: "{}" };
    },
  };
  const callbacks = { isPublicUrlReachable: false, signUrl: () => "" };
  const startedAt = clock.at;
  const lease = { startedAt, endsAt: startedAt + 35_000, isLost: false };
  clock.at += 4000;
  const provider = { provider: fake.provider, env: {} };
  const attempt = { run_id: claim.run_id, request_index: 0, attempt_number: 1 };
  const runPixelTask = () => Promise.reject(new Error("this test has no images"));
  const context = createProviderContext(
    { http, callbacks, runPixelTask, submitSeconds: 30, clock },
    provider,
    attempt,
    { lease },
  );
  const send = () => context.send("https://provider.example", { method: "POST", headers: {} });
  await send();
  clock.at += 20_000;
  await send();
  expect(timeouts).toEqual([26, 6]);
});
