// Runs whose segmentation finds nothing, executed on an engine without a journal: they end in the same way whatever the
// provider returned.
import { describe, expect, it } from "vitest";
import type { Job } from "../../contract/operation.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { executeRun } from "../execute/execute.ts";
import type { RunEngine } from "../execute/run-engine.ts";
import type { RunOutcome, RunSteps } from "../steps.ts";

const engine: RunEngine = {
  step: (_name, work) => work(),
  createWakeup: () => ({ id: "wakeup", wait: async () => undefined }),
  waitForFirst: async () => 0,
};
const offer = { provider: "fake", upstreamModel: "fake-model" };
const segment: Job = { task: "image.segment", model: "segment-default", images: [{ asset: "a" }] };
const cut: Job = { task: "image.cut", model: "local", images: [{ asset: "a" }], masks: [{ job: 0, every: true }] };
const fill: Job = { task: "image.remove", model: "remove-default", images: [{ asset: "a" }], mask: { job: 0 } };

/** Executes the plan; `found` is the number of masks that the segmentation returns. */
async function execute(plan: Job[], found: number) {
  const submitted: string[] = [];
  const outcomes: RunOutcome[] = [];
  const steps: Partial<RunSteps> = {
    planRequests: async () => ({
      requests: plan.map((job, index) => ({ requestIndex: index, jobIndex: index, job, offer })),
    }),
    resolveSources: async (_claim, job) => ({ state: "resolved", job: job as never }),
    submit: async (_claim, { job }) => {
      submitted.push(job.task);
      const files = Array.from({ length: found }, (_, index) => ({ asset_id: `${job.task} ${index}` }) as StoredAsset);
      return { state: "produced", files, warnings: [] };
    },
    finishRun: async (_claim, outcome) => void outcomes.push(outcome),
  };
  await executeRun({ run_id: "run", tenant_id: "tenant", epoch: 1 }, engine, steps as RunSteps);
  expect(outcomes).toHaveLength(1);
  return { submitted, outcome: outcomes[0]! };
}

const NOTHING_FOUND = {
  status: "failed",
  error: { code: "provider_rejected_input", details: { reason: "nothing_found" } },
};

describe("a run whose segmentation finds nothing", () => {
  it("completes without results if its next job is for every object, and does not submit that job", async () => {
    const { submitted, outcome } = await execute([segment, cut, cut], 0);
    expect(submitted).toEqual(["image.segment"]);
    expect(outcome).toMatchObject({ status: "completed", result: { outputs: [], jobs: [[], [], []] }, warnings: [] });
  });

  it.each([
    ["has no other job", [segment]],
    ["needs one object for its next job", [segment, fill]],
  ])("fails with nothing_found if it %s", async (_, plan) => {
    const { submitted, outcome } = await execute(plan, 0);
    expect(submitted).toEqual(["image.segment"]);
    expect(outcome).toMatchObject(NOTHING_FOUND);
  });
});

it("a run whose segmentation finds objects does all its jobs", async () => {
  const { submitted, outcome } = await execute([segment, cut], 2);
  expect(submitted).toEqual(["image.segment", "image.cut"]);
  expect(outcome).toMatchObject({ status: "completed", result: { outputs: [{}, {}] } });
});
