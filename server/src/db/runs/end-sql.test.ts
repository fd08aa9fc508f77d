// What rows keep when their run ends: the plan of a completed run without parameters of provider requests, the whole
// plan of any other run, and no lease.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attemptOf, claimRun, jobFor } from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Job } from "../../contract/operation.ts";
import { saveRequestOutput } from "../attempts/attempts.ts";
import { claimAttempt } from "../attempts/claim-attempt.ts";
import type { RunClaim } from "../run-claims.ts";
import { endRun, type RunEnd, saveOutputAndComplete } from "./end-runs.ts";
import { findRun } from "./runs.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

const COMPLETED: Extract<RunEnd, { status: "completed" }> = {
  ...{ status: "completed", result: { outputs: [] }, provider: "p", cost: 0, warnings: [] },
};
const FAILED: RunEnd = { status: "failed", error: { message: "m", code: "provider_error", details: {} } };
const leaseToken = v7();

const claimFirst = (claim: RunClaim) =>
  claimAttempt(database.db, {
    ...{ ...claim, ...attemptOf(claim), idempotency_key: `${claim.run_id}.0.1`, model: "flux-dev", provider: "p" },
    ...{ upstream: "u", price: 0, wakeupId: "w", leaseSeconds: 35, leaseToken, spoolId: v7(), runsLocally: false },
  });
const endings: Record<string, (claim: RunClaim) => Promise<unknown>> = {
  "with the output of its request": (claim) =>
    saveOutputAndComplete(database.db, {
      ...{ claim, attempt: attemptOf(claim), output: { files: [] }, end: COMPLETED, eventId: v7() },
    }),
  "after its last request": async (claim) => {
    await saveRequestOutput(database.db, claim, attemptOf(claim), { files: [] });
    await endRun(database.db, claim, COMPLETED, v7());
  },
};
const readPlan = async ({ run_id, tenant_id }: RunClaim) => (await findRun(database.db, tenant_id, run_id))!.plan;

const request: Partial<Job> = {
  ...{
    prompt: "p",
    negative_prompt: "n",
    width: 1,
    height: 2,
    aspect_ratio: "1:2",
    seed: 3,
    count: 4,
    routing: "cheapest",
  },
  ...{ request_count: 5, defaulted: ["width"], is_strict: true, source_size: { width: 6, height: 7 } },
  prices: [{ provider: "p", as: "u", price: 0.04 }],
};
const image = { run: v7() };
const sources: Job[] = [
  { task: "image.segment", model: "m", images: [image], options: { prompt: "lamp" } },
  { task: "image.cut", model: "m", images: [image], masks: [{ job: 0, every: true }], options: { mode: "mask" } },
  { task: "image.edit", model: "m", images: [{ job: 1 }], mask: { asset: v7() }, mask_over: 1, mask_margin: 0.1 },
];

describe.each(Object.entries(endings))("a run that completes %s", (_, end) => {
  it("keeps tasks, options and sources of its jobs", async () => {
    const claim = await claimRun(database.db, { plan: sources.map((job) => ({ ...job, ...request })) });
    await claimFirst(claim);
    await end(claim);
    expect(await readPlan(claim)).toEqual(sources);
  });

  it("has no plan if its only job has no sources", async () => {
    const claim = await claimRun(database.db, { plan: [jobFor(request)] });
    await claimFirst(claim);
    await end(claim);
    expect(await readPlan(claim)).toEqual([]);
  });

  it("leaves an attempt without a lease, which is not claimed again", async () => {
    const claim = await claimRun(database.db);
    expect(await claimFirst(claim)).toBe("claimed");
    await end(claim);
    const [row] = await database.db.query(
      "test.lease",
      "select state, lease_until, lease_token, spool_id from attempts where run_id = $1",
      [claim.run_id],
    );
    expect(row).toEqual({ state: "succeeded", lease_until: null, lease_token: null, spool_id: null });
    expect(await claimFirst(claim)).toBe("claim_lost");
  });
});

it("an attempt that succeeded is not claimed again while its run is open", async () => {
  const claim = await claimRun(database.db);
  await claimFirst(claim);
  await saveRequestOutput(database.db, claim, attemptOf(claim), { files: [] });
  expect(await claimFirst(claim)).toBe("claimed_by_other");
});

it("a run that fails keeps its whole plan", async () => {
  const plan = [jobFor(request), ...sources];
  const claim = await claimRun(database.db, { plan });
  await endRun(database.db, claim, FAILED, v7());
  expect(await readPlan(claim)).toEqual(plan);
});
