import { expect, it } from "vitest";
import { assetFromBytes, createJob, imageFromLetters, maskFromGreyValues } from "../../test/support/ascii-images.ts";
import { runPixelTask } from "../../test/support/isolated-pixels.ts";
import type { Job } from "../contract/operation.ts";
import { Fault } from "../faults/faults.ts";
import { FREE } from "../prices/price.ts";
import { readProviderFailure } from "./call-provider.ts";
import { local } from "./local.ts";
import type { Asset, ProviderContext } from "./provider.ts";

const context = { runPixelTask } as ProviderContext<unknown>;
const red = await imageFromLetters(["RR", "RR"]);
const failing = (job: Job<Asset>) =>
  local.submit(job, local.offers[0]!, context).then(
    () => expect.fail("it should have failed"),
    (thrown) => thrown,
  );

it("is enabled without settings, costs nothing and can always be repeated", () => {
  expect(local.env.safeParse({}).success).toBe(true);
  expect(local.offers.map(({ task, model, price, recovery }) => ({ task, model, price, recovery }))).toEqual(
    ["image.combine", "image.cut", "image.blend", "image.resize"].map((task) => ({
      ...{ task, model: "local", price: FREE, recovery: "free" },
    })),
  );
});

it.each([
  ["one picture to combine", createJob("image.combine", { images: [red] })],
  ["eleven pictures to combine", createJob("image.combine", { images: Array(11).fill(red) })],
  ["a mode that there is not", createJob("image.combine", { images: [red, red], options: { mode: "pile" } })],
  ["a gap that is too wide", createJob("image.combine", { images: [red, red], options: { gap: 513 } })],
  ["a cut without a mask", createJob("image.cut", { images: [red] })],
  ["a cut without a picture", createJob("image.cut", { images: [], masks: [red] })],
  ["a blend without a mask", createJob("image.blend", { images: [red, red] })],
  ["a blend of one picture", createJob("image.blend", { images: [red], mask: red })],
])("refuses %s for good, without a retry", async (_, job) => {
  const thrown = await failing(job);
  expect(thrown).toMatchObject({ code: "provider_rejected_input" });
  expect(readProviderFailure(thrown).kind).toBe("refused");
});

it("fails a job with a damaged image, and its outcome is known", async () => {
  const thrown = await failing(createJob("image.combine", { images: [red, red.subarray(0, 60)] }));
  expect(thrown).toMatchObject({ code: "provider_error" });
  expect(readProviderFailure(thrown).kind).toBe("failed");
});

it("passes on a storage failure, so that the job is repeated", async () => {
  const away = { ...assetFromBytes(red), bytes: () => Promise.reject(new Fault("asset_unavailable")) };
  const thrown = await failing({ task: "image.cut", model: "local", images: [away], masks: [assetFromBytes(red)] });
  expect(thrown).toMatchObject({ code: "asset_unavailable" });
  expect(readProviderFailure(thrown).kind).toBe("unknown");
});

it("cannot be polled, because every job ends with its submission", async () => {
  await expect(local.poll({}, context)).rejects.toMatchObject({ code: "internal_error" });
});

it("finishes forty concurrent jobs", async () => {
  const mask = await maskFromGreyValues([
    [0, 255],
    [255, 0],
  ]);
  const jobs = Array.from({ length: 40 }, () => createJob("image.blend", { images: [red, red], mask }));
  const all = await Promise.all(jobs.map((job) => local.submit(job, local.offers[2]!, context)));
  expect(all.every(({ state }) => state === "done")).toBe(true);
});
