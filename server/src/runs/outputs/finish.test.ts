// Ending a run: once, with its result, its provider, its cost and its warnings.
import { v7 } from "uuid";
import { beforeEach, describe, expect, it } from "vitest";
import {
  cancelRun,
  claimRun,
  createFakeProvider,
  jobFor,
  requeue,
  SimulatedCrash,
  TENANT,
} from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { findRun } from "../../db/runs/runs.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import { FREE, flatPrice } from "../../prices/price.ts";
import type { FinishedRequest, RunOutcome } from "../steps.ts";
import { finishRun } from "./finish.ts";

const { database, runtime, claim, services, use } = setUpStep();
const first = createFakeProvider("first", { preference: 1, price: flatPrice(0.02) });
const second = createFakeProvider("second", { preference: 2, price: flatPrice(0.05), limits: { ratios: ["1:1"] } });
const local = createFakeProvider("local", { price: FREE });
beforeEach(() => use(first, second, local));

const file = {
  asset_id: v7(),
  media_type: "image/png",
  width: 8,
  height: 8,
  size_bytes: 1,
  sha256: "00",
  role: "result",
};
const request = (fake: typeof first, job = jobFor()): FinishedRequest => ({ job, offer: fake.offer, files: [file] });
const completed = (...finishedRequests: FinishedRequest[]): RunOutcome => ({
  ...{ status: "completed", result: { outputs: [file as StoredAsset] }, finishedRequests, warnings: ["a warning"] },
});
const finish = (outcome: RunOutcome, as = claim) => finishRun(services, as, outcome);
const runRow = async () => (await findRun(database.db, TENANT, claim.run_id))!;

describe("finishing", () => {
  it("completes a run with its result, provider, cost and warnings", async () => {
    await finish(completed(request(first)));
    expect(await runRow()).toMatchObject({
      ...{ status: "completed", provider: "first", warnings: ["a warning"], result: { outputs: [file] } },
      cost: { amount: 0.02, currency: "USD" },
    });
    expect(runtime.endedRuns).toEqual([claim.run_id]);
  });

  it.each(["failed", "canceled"] as const)("ends a run as %s with its error", async (status) => {
    const error = new Fault(status === "failed" ? "provider_error" : "canceled_by_user").body();
    await finish({ status, error });
    expect(await runRow()).toMatchObject({ status, error: { code: error.code }, cost: null });
  });

  it("changes nothing the second time", async () => {
    await finish(completed(request(first)));
    await finish({ status: "failed", error: new Fault("provider_error").body() });
    expect((await runRow()).status).toBe("completed");
    expect(runtime.endedRuns).toHaveLength(1);
  });

  it("changes nothing if a later epoch has claimed the run", async () => {
    const later = await requeue(database.db, claim);
    await finish(completed(request(first)));
    expect([(await runRow()).status, runtime.endedRuns]).toEqual(["processing", []]);
    await finish(completed(request(first)), later);
    expect((await runRow()).status).toBe("completed");
  });

  it("completes a run whose cancellation came too late", async () => {
    await cancelRun(database.db, claim);
    await finish(completed(request(first)));
    expect((await runRow()).status).toBe("completed");
  });

  it("ends the run once if it crashes before or after", async () => {
    for (const crashPoint of ["finishing", "finished"] as const) {
      runtime.crashAt = crashPoint;
      await expect(finish(completed(request(first)))).rejects.toThrow(SimulatedCrash);
    }
    await finish(completed(request(first)));
    expect((await runRow()).status).toBe("completed");
  });

  it("names the provider that produced the image, not the local step before or after it", async () => {
    await finish(completed(request(first), request(local)));
    expect((await runRow()).provider).toBe("first");
    Object.assign(claim, await claimRun(database.db));
    await finish(completed(request(local), request(first)));
    expect((await runRow()).provider).toBe("first");
    Object.assign(claim, await claimRun(database.db));
    await finish(completed(request(local)));
    expect((await runRow()).provider).toBe("local");
  });

  it("names the provider that changed the image, not the one that found its mask", async () => {
    const find = jobFor({ task: "image.segment" });
    await finish(completed(request(first, find), request(second), request(local)));
    expect((await runRow()).provider).toBe("second");
    Object.assign(claim, await claimRun(database.db));
    await finish(completed(request(first, find), request(local)));
    expect((await runRow()).provider).toBe("first");
  });

  it("reports once what a failover offer had to change", async () => {
    const wide = jobFor({ aspect_ratio: "16:9" });
    await finish(completed(request(second, wide), request(second, wide)));
    const { warnings } = await runRow();
    expect(warnings).toHaveLength(2);
    expect(warnings[1]).toMatch(/1:1/);
  });

  it("does not repeat what the offer selected first had to change", async () => {
    use(createFakeProvider("first", { preference: 1, limits: { ratios: ["1:1"] } }), second);
    await finish(completed(request(first, jobFor({ aspect_ratio: "16:9" }))));
    expect((await runRow()).warnings).toEqual(["a warning"]);
  });

  it("completes although the offer was removed from the catalogue", async () => {
    use(first);
    await finish(completed(request(second)));
    expect(await runRow()).toMatchObject({
      status: "completed",
      provider: "second",
      warnings: ["a warning"],
      cost: null,
    });
  });
});
