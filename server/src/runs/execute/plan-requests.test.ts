// The first step of a run: it starts, and its jobs become provider requests.

import { describe, expect, it } from "vitest";
import {
  cancelRun,
  claimRun,
  done,
  jobFor,
  requestTo,
  requeue,
  SimulatedCrash,
  TENANT,
} from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { findRun } from "../../db/runs/runs.ts";
import { submit } from "../attempt/submit.ts";
import { planRequests } from "./plan-requests.ts";

const { database, runtime, first, services, use } = setUpStep({ offer: { limits: { count: 2 } } });
const plan = (claim: RunClaim) => planRequests(services, claim);
const claimUnstarted = (...jobs: ReturnType<typeof jobFor>[]) =>
  claimRun(database.db, { plan: jobs, isStarted: false });

describe("planning", () => {
  it("starts the run and selects an offer for each job", async () => {
    const claim = await claimUnstarted(jobFor(), jobFor({ prompt: "q" }));
    const { requests } = (await plan(claim))!;
    expect(requests).toEqual([
      { requestIndex: 0, jobIndex: 0, job: jobFor(), offer: first.offer },
      { requestIndex: 1, jobIndex: 1, job: jobFor({ prompt: "q" }), offer: first.offer },
    ]);
    expect((await findRun(database.db, TENANT, claim.run_id))!.status).toBe("processing");
  });

  it("leaves the start of a run of one request to its first attempt, if its plan is known", async () => {
    const claim = await claimUnstarted(jobFor());
    const known = await planRequests(services, claim, [jobFor()]);
    expect(known).toEqual({
      requests: [{ requestIndex: 0, jobIndex: 0, job: jobFor(), offer: first.offer, startsRun: true }],
    });
    expect((await findRun(database.db, TENANT, claim.run_id))!.status).toBe("queued");
  });

  it.each([
    ["has several jobs", [jobFor(), jobFor({ prompt: "q" })]],
    ["needs several requests", [jobFor({ count: 3 })]],
    ["has sources", [jobFor({ images: [{ asset: "01990000-0000-7000-8000-000000000001" }] })]],
    ["names a LoRA", [jobFor({ options: { lora_1: "style" } })]],
    ["has no offer", [jobFor({ model: "unknown" })]],
  ])("starts a run whose known plan %s", async (_, jobs) => {
    const claim = await claimUnstarted(...jobs);
    const planned = await planRequests(services, claim, jobs).catch(() => null);
    expect(planned?.requests.some(({ startsRun }) => startsRun)).not.toBe(true);
    expect((await findRun(database.db, TENANT, claim.run_id))!.status).toBe("processing");
  });

  it("starts nothing for a claim that names another tenant", async () => {
    const claim = await claimUnstarted(jobFor());
    expect(await plan({ ...claim, tenant_id: "01990000-0000-7000-8000-00000000ffff" })).toBeNull();
    expect((await findRun(database.db, TENANT, claim.run_id))!.status).toBe("queued");
  });

  it("splits a job that wants more results than one request returns, each with its own seed", async () => {
    const claim = await claimUnstarted(jobFor({ count: 5, seed: 2 ** 32 - 1 }));
    const { requests } = (await plan(claim))!;
    expect(requests.map(({ requestIndex, jobIndex, job }) => [requestIndex, jobIndex, job.count, job.seed])).toEqual([
      [0, 0, 2, 2 ** 32 - 1],
      [100, 0, 2, 1],
      [200, 0, 1, 3],
    ]);
    const unseeded = (await plan(await claimUnstarted(jobFor({ count: 3 }))))!;
    expect(unseeded.requests.map(({ job }) => "seed" in job)).toEqual([false, false]);
  });

  it("makes one request for each file that a job expects of an earlier one", async () => {
    const each = { images: [{ job: 0, each: true as const }], request_count: 3 };
    const { requests } = (await plan(await claimUnstarted(jobFor({ count: 3 }), jobFor(each))))!;
    const { request_count: _, ...single } = jobFor(each);
    expect(requests.filter(({ jobIndex }) => jobIndex === 1)).toEqual(
      [0, 1, 2].map((sourceSlot) => ({
        ...{ requestIndex: 1 + 100 * sourceSlot, jobIndex: 1, sourceSlot },
        ...{ job: single, offer: first.offer },
      })),
    );
  });

  it("returns the same plan if it is repeated after a crash", async () => {
    const claim = await claimUnstarted(jobFor());
    runtime.crashAt = "begun";
    await expect(plan(claim)).rejects.toThrow(SimulatedCrash);
    expect(await plan(claim)).toEqual(await plan(claim));
  });

  it("contains the results that an earlier invocation stored", async () => {
    const claim = await claimUnstarted(jobFor(), jobFor());
    await plan(claim);
    first.submit = async () => done("pixels");
    const produced = await submit(services, claim, requestTo(first), { attemptNumber: 1, wakeupId: "w" });
    const { requests } = (await plan(await requeue(database.db, claim)))!;
    expect(requests[0]!.earlierResult).toEqual({ files: (produced as { files: unknown }).files, offer: first.offer });
    expect(requests[1]!.earlierResult).toBeUndefined();
  });

  it("returns null if a later epoch has claimed the run or the run was canceled", async () => {
    const stale = await claimUnstarted(jobFor());
    await requeue(database.db, stale);
    expect(await plan(stale)).toBeNull();
    const canceled = await claimUnstarted(jobFor());
    await cancelRun(database.db, canceled);
    expect(await plan(canceled)).toBeNull();
  });

  it("fails if no offer serves a job any more", async () => {
    use();
    await expect(plan(await claimUnstarted(jobFor()))).rejects.toMatchObject({ code: "model_unavailable" });
  });
});
