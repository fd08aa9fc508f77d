// Collecting, waking and canceling a submitted job, on a real database.
import { beforeEach, describe, expect, it } from "vitest";
import {
  cancelRun,
  claimRun,
  createFakeProvider,
  done,
  jobFor,
  requestTo,
  requeue,
  SimulatedCrash,
  sha256,
} from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import type { Task } from "../../contract/operation.ts";
import { findLatestAttempt } from "../../db/attempts/attempts.ts";
import { findAssets } from "../../db/files/assets.ts";
import { findRun } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";
import {
  contentRefused,
  jobFailed,
  modelUnavailable,
  providerBusy,
  providerFault,
} from "../../providers/call-provider.ts";
import type { ResolvedRequest, SubmittedAttempt } from "../steps.ts";
import { cancelAtProvider, collectResult, registerWakeup } from "./collect-result.ts";
import { submit } from "./submit.ts";

const FIRST = { attemptNumber: 1 };
const { database, runtime, first: fake, claim, services, use, ...step } = setUpStep();
const stateOf = step.latestAttempt;

/** A run whose first request was submitted. */
const prepare = async (deadlineSeconds = 600) => {
  await step.reset({ deadlineSeconds });
  use(fake);
  await submit(services, claim, requestTo(fake), { ...FIRST, wakeupId: "wakeup-1" });
};
beforeEach(() => prepare());
const collect = () => collectResult(services, claim, requestTo(fake), FIRST);

describe("collecting the only request of a run", () => {
  const ticket = () => ({ job: `${claim.run_id}.0.1` });
  const complete = (attempt: SubmittedAttempt = { ...FIRST, ticket: ticket() }) =>
    collectResult(services, claim, requestTo(fake, { isWholeRun: true }), attempt);
  const runRow = async () => (await findRun(database.db, claim.tenant_id, claim.run_id))!;
  beforeEach(() => {
    fake.poll = async () => done("one");
  });

  it("completes the run in the statement that saves the results", async () => {
    expect(await complete()).toEqual({ state: "finished" });
    const run = await runRow();
    expect(run).toMatchObject({
      ...{ status: "completed", progress: 1, provider: "first", cost: { amount: 0.01, currency: "USD" } },
      result: { outputs: [{ sha256: sha256("one"), role: "result" }] },
    });
    expect(run.result).not.toHaveProperty("jobs");
    expect((await stateOf()).state).toBe("succeeded");
    const [output] = run.result!.outputs;
    const ids = [output!.asset_id, ...Object.values(output!.thumbnails!)];
    expect(await findAssets(database.db, claim.tenant_id, ids)).toHaveLength(3);
    expect(runtime.endedRuns).toEqual([claim.run_id]);
  });

  it("reads the ticket of the job from PostgreSQL if the caller has none", async () => {
    const asked: object[] = [];
    fake.poll = async (known) => {
      asked.push(known);
      return done("one");
    };
    expect(await complete(FIRST)).toEqual({ state: "finished" });
    expect(asked).toEqual([ticket()]);
  });

  it("changes nothing if a later epoch has claimed the run, or if the run has ended", async () => {
    const later = await requeue(database.db, claim);
    expect(await complete()).toEqual({ state: "claim_lost" });
    expect([(await runRow()).status, (await stateOf()).state]).toEqual(["processing", "submitted"]);
    Object.assign(claim, later);
    expect([await complete(), await complete()]).toEqual([{ state: "finished" }, { state: "claim_lost" }]);
    expect(runtime.endedRuns).toHaveLength(1);
  });

  it.each(["file_stored", "finishing", "finished"] as const)("ends the run once if it crashes at %s", async (point) => {
    runtime.crashAt = point;
    await expect(complete()).rejects.toThrow(SimulatedCrash);
    expect(await complete()).toEqual({ state: point === "finished" ? "claim_lost" : "finished" });
    expect((await runRow()).status).toBe("completed");
    const [events] = await database.db.query<{ count: number }>(
      "test.ends",
      "select count(*)::int from events where run_id = $1 and terminal",
      [claim.run_id],
    );
    expect(events!.count).toBe(1);
  });

  it("renews the claim if the results cannot be read now, because the step is repeated", async () => {
    fake.poll = async () => ({ state: "done", outputs: [{ url: "https://results.example/1" }] });
    services.jobFiles.storeOutputs = () => Promise.reject(new Fault("dependency_unavailable"));
    await database.db.query(
      "test.nearly_expired",
      "update open_requests set claim_expires_at = now() + interval '5 seconds' where run_id = $1",
      [claim.run_id],
    );
    await expect(complete()).rejects.toMatchObject({ code: "dependency_unavailable" });
    const [row] = await database.db.query<{ seconds: number }>(
      "test.remaining",
      "select extract(epoch from claim_expires_at - now())::float as seconds from open_requests where run_id = $1",
      [claim.run_id],
    );
    expect(row!.seconds).toBeGreaterThan(100);
  });

  it("does not complete a run that looked for objects and found none", async () => {
    const job = jobFor({ task: "image.segment" }) as ResolvedRequest["job"];
    use(createFakeProvider("first", { task: "image.segment" }, fake));
    fake.poll = async () => ({ state: "done", outputs: [] });
    const request = requestTo(fake, { isWholeRun: true, job });
    const collected = await collectResult(services, claim, request, { ...FIRST, ticket: ticket() });
    expect(collected).toMatchObject({ state: "produced", files: [] });
    expect((await runRow()).status).toBe("processing");
  });
});

describe("collecting", () => {
  it("reports a job that is running", async () => {
    expect(await collect()).toEqual({ state: "running", attemptNumber: 1 });
  });

  it("stores the results of a job that is done", async () => {
    fake.poll = async () => done("one");
    expect(await collect()).toMatchObject({ state: "produced", files: [{ sha256: sha256("one") }] });
    expect((await stateOf()).state).toBe("succeeded");
  });

  it("stores thumbnails beside each result, whose rows exist together with that of the result", async () => {
    fake.poll = async () => done("one");
    const collected = await collect();
    const [file] = collected.state === "produced" ? collected.files : [];
    const { small, large } = file!.thumbnails!;
    expect(await findAssets(database.db, claim.tenant_id, [file!.asset_id, small, large])).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ asset_id: small, role: "thumbnail", width: 320, media_type: "image/webp" }),
        expect.objectContaining({ asset_id: large, role: "thumbnail", width: 640, media_type: "image/webp" }),
      ]),
    );
    expect(file!.thumbhash).toEqual(expect.any(String));
  });

  it("stores a result without thumbnails if they cannot be made", async () => {
    fake.poll = async () => done("one");
    services.thumbnails.make = () => Promise.reject(new Fault("service_overloaded"));
    const collected = await collect();
    expect(collected).toMatchObject({ state: "produced", files: [{ sha256: sha256("one") }] });
    expect(collected.state === "produced" && collected.files[0]!.thumbnails).toBe(undefined);
    expect(runtime.messages).toContain("file stored without thumbnails");
  });

  it("returns the same if it is repeated after a crash", async () => {
    fake.poll = async () => done("one");
    for (const crashPoint of ["result_read", "file_stored"] as const) {
      runtime.crashAt = crashPoint;
      await expect(collect()).rejects.toThrow(SimulatedCrash);
    }
    expect(await collect()).toEqual(await collect());
    expect(fake.submissions).toHaveLength(1);
  });

  it("warns if the provider returned fewer results than requested", async () => {
    fake.poll = async () => done("one");
    const request = requestTo(fake);
    const wanting = { ...request, job: { ...request.job, count: 3 } };
    expect(await collectResult(services, claim, wanting, FIRST)).toMatchObject({
      ...{ state: "produced", warnings: ["The provider returned 1 of 3 results."] },
    });
  });

  it("stops if a later epoch has claimed the run, also while the results are stored", async () => {
    fake.poll = async () => {
      await requeue(database.db, claim);
      return done("late");
    };
    expect(await collect()).toEqual({ state: "claim_lost" });
    expect(await collect()).toEqual({ state: "claim_lost" });
  });

  it("submits again if the provider has lost the job", async () => {
    fake.poll = () => Promise.reject(providerFault("provider_error", { kind: "gone" }));
    expect(await collect()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 0 });
    expect(await stateOf()).toMatchObject({ state: "failed", is_final: false });
  });

  it.each([
    ["failed", jobFailed("no GPU")],
    ["was refused for its content", contentRefused("policy")],
    ["is not known", modelUnavailable("404", 404)],
  ])("fails the run if the provider reports that the job %s", async (_, fault) => {
    fake.poll = () => Promise.reject(fault);
    await expect(collect()).rejects.toBe(fault);
    expect(await stateOf()).toMatchObject({ state: "failed", is_final: true });
  });

  it.each([
    ["is busy", providerBusy("429")],
    ["does not respond", new Error("socket hang up")],
    ["cannot be reached", providerFault("provider_error", { kind: "unsent" })],
  ])("takes the job for running if the provider %s", async (_, thrown) => {
    fake.poll = () => Promise.reject(thrown);
    expect(await collect()).toMatchObject({ state: "running" });
    expect((await stateOf()).state).toBe("submitted");
  });

  it("fails if the provider is done and has no output", async () => {
    fake.poll = async () => done();
    await expect(collect()).rejects.toMatchObject({
      code: "provider_output_invalid",
      details: { reason: "no_output" },
    });
  });

  /** A request for another task, which the provider now offers too. */
  const requestFor = (task: Task) => {
    fake.provider.offers.push({ ...fake.provider.offers[0]!, task });
    use(fake);
    return requestTo(fake, { job: jobFor({ task }) as ResolvedRequest["job"] });
  };

  it("has no files if a segmentation found nothing, without a mask or with an empty one", async () => {
    const nothing = { state: "produced", files: [], warnings: [] };
    fake.poll = async () => done();
    expect(await collectResult(services, claim, requestFor("image.segment"), FIRST)).toEqual(nothing);
    await prepare();
    fake.poll = async () => done("a black mask");
    const request = requestFor("image.segment");
    services.images.toFoundMask = async (bytes) => ({ bytes, isEmpty: true });
    expect(await collectResult(services, claim, request, FIRST)).toEqual(nothing);
  });

  it.each([
    ["image.segment", "mask of image"],
    ["image.remove-background", "PNG of image"],
    ["image.generate", "image"],
  ] as const)("stores the result of %s as %s", async (task, expected) => {
    fake.poll = async () => done("image");
    const request = requestFor(task);
    services.images.toFoundMask = async (bytes) => ({ bytes: Buffer.from(`mask of ${bytes}`), isEmpty: false });
    services.images.toPng = async (bytes) => Buffer.from(`PNG of ${bytes}`);
    const collected = await collectResult(services, claim, request, FIRST);
    expect(collected).toMatchObject({ state: "produced", files: [{ sha256: sha256(expected) }] });
  });

  it.each(["service_overloaded", "dependency_unavailable"] as const)(
    "is repeated if no decoder is free (%s), because the result is paid for",
    async (code) => {
      fake.poll = async () => done("image");
      services.images.inspect = () => Promise.reject(new Fault(code));
      await expect(collect()).rejects.toMatchObject({ code: "dependency_unavailable" });
      expect((await stateOf()).state).toBe("submitted");
    },
  );

  it("is an internal error for an attempt without a ticket", async () => {
    const crashed = await claimRun(database.db);
    runtime.crashAt = "intent_written";
    const attempt = { ...FIRST, wakeupId: "w" };
    await expect(submit(services, crashed, requestTo(fake), attempt)).rejects.toThrow(SimulatedCrash);
    await expect(collectResult(services, crashed, requestTo(fake), FIRST)).rejects.toMatchObject({
      code: "internal_error",
    });
  });
});

describe("registering a wakeup", () => {
  const register = () => registerWakeup(services, claim, requestTo(fake), { wakeupId: "wakeup-2", seconds: 60 });

  it("stores where the run can be woken", async () => {
    expect(await register()).toEqual({ state: "registered" });
    expect((await cancelRun(database.db, claim)).wakeupIds).toEqual(["wakeup-2"]);
  });

  it("notices a cancellation and a lost claim", async () => {
    await cancelRun(database.db, claim);
    expect(await register()).toEqual({ state: "canceled" });
    await requeue(database.db, claim);
    expect(await register()).toEqual({ state: "claim_lost" });
  });

  it("cancels the job and fails with provider_timeout after the deadline", async () => {
    await prepare(-1);
    await expect(register()).rejects.toMatchObject({ code: "provider_timeout" });
    expect(fake.canceled).toEqual([{ job: `${claim.run_id}.0.1` }]);
  });
});

describe("canceling at the provider", () => {
  const cancel = () => cancelAtProvider(services, claim, requestTo(fake));

  it("cancels the submitted job, again if it is repeated after a crash", async () => {
    await cancel();
    await cancel();
    expect(fake.canceled).toEqual(Array(2).fill({ job: `${claim.run_id}.0.1` }));
  });

  it("does nothing for a request that was not submitted, or a provider that cannot cancel or is gone", async () => {
    await cancelAtProvider(services, claim, requestTo(fake, { requestIndex: 9 }));
    delete fake.provider.cancel;
    await cancel();
    use();
    await cancel();
    expect(fake.canceled).toEqual([]);
  });

  it("leaves the job submitted, so that it is charged, unless the provider says that it does not charge", async () => {
    const stateOf = async () => (await findLatestAttempt(database.db, claim.run_id, 0))?.state;
    await cancel();
    expect(await stateOf()).toBe("submitted");
    fake.cancel = async () => ({ isUncharged: true });
    await cancel();
    expect(await stateOf()).toBe("failed");
  });

  it("only logs a failure, because the run ends in any case", async () => {
    fake.cancel = () => Promise.reject(new Error("500"));
    await cancel();
    expect(runtime.messages).toEqual(["canceling at the provider failed"]);
  });
});

describe("a job that the provider has lost", () => {
  const lose = () => Promise.reject(providerFault("provider_error", { kind: "gone", cause: "404" }));

  it("is followed by the next attempt, also if its provider no longer answers", async () => {
    fake.poll = lose;
    fake.find = () => Promise.reject(new Error("its server has died"));
    expect(await collect()).toEqual({ state: "retry", attemptNumber: 2, delaySeconds: 0 });
    expect((await stateOf()).state).toBe("failed");
  });

  /** As if the outcome had been unknown, and another worker had sent the request again. */
  const repeatRequest = () =>
    database.db.query("test.repeat", "update attempts set send_count = 2 where run_id = $1", [claim.run_id]);

  it("gives its place to the job that a repeated request of the same attempt has started", async () => {
    await repeatRequest();
    fake.poll = (ticket) => (ticket.job === "of the repeated request" ? Promise.resolve(done("one")) : lose());
    fake.find = async () => ({ job: "of the repeated request" });
    expect(await collect()).toEqual({ state: "running", attemptNumber: 1 });
    expect(await stateOf()).toMatchObject({ state: "submitted", ticket: { job: "of the repeated request" } });
    expect(await collect()).toMatchObject({ state: "produced" });
    expect(fake.submissions).toHaveLength(1);
  });

  it("is looked up again if the provider cannot be asked for others, and nothing is submitted", async () => {
    await repeatRequest();
    fake.poll = lose;
    fake.find = () => Promise.reject(new Error("timeout"));
    await expect(collect()).rejects.toMatchObject({ code: "dependency_unavailable" });
    expect((await stateOf()).state).toBe("submitted");
  });
});

it("a collection that the engine has given up leaves the job of a later attempt alone", async () => {
  fake.poll = () => Promise.reject(providerFault("provider_error", { kind: "gone", cause: "404" }));
  await collect();
  await submit(services, claim, requestTo(fake), { attemptNumber: 2, wakeupId: "wakeup-2" });
  fake.poll = async () => done("two");
  expect(await collect()).toEqual({ state: "claim_lost" });
  expect(await stateOf()).toMatchObject({ attempt_number: 2, state: "submitted" });
});
