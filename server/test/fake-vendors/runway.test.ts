// The fake Runway, used by Runway's own client.
import RunwayML, { TaskFailedError, toFile } from "@runwayml/sdk";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "./fake-vendor.ts";
import { fakeRunway } from "./runway.ts";
import { createImageAsset } from "./sample-jobs.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await fakeRunway.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  Object.assign(fakeVendor.switches, { outcome: "done", workMs: 50, refuse: undefined, retired: [] });
  fakeVendor.invalidRequests.length = 0;
});

const client = (more: ConstructorParameters<typeof RunwayML>[0] = {}) =>
  new RunwayML({ apiKey: fakeRunway.env(fakeVendor).RUNWAY_API_KEY!, baseURL: fakeVendor.url, maxRetries: 0, ...more });
const inline = async (name: string) =>
  `data:image/png;base64,${Buffer.from(await createImageAsset(name).bytes()).toString("base64")}`;
const generate = (promptText: string) =>
  client().textToImage.create({ model: "gen4_image", promptText, ratio: "1280:720" });
/** The client waits six seconds before its first poll; for a task that has ended it returns at once. */
const ended = async ({ id }: { id: string }) => {
  await expect.poll(async () => (await client().tasks.retrieve(id)).status).toMatch(/SUCCEEDED|FAILED/);
  return client().tasks.retrieve(id).waitForTaskOutput();
};
const bytesAt = async (url: string | undefined) => new Uint8Array(await (await fetch(url!)).arrayBuffer());

describe("the client", () => {
  it("generates an image from tagged images, in the requested shape", async () => {
    const task = await client().textToImage.create({
      model: "gen4_image",
      promptText: "@hero on a beach",
      ratio: "1280:720",
      referenceImages: [{ uri: await inline("hero"), tag: "hero" }],
    });
    const { output } = await ended(task);
    const { width, height } = await sharp(await bytesAt(output[0])).metadata();
    expect([width, height]).toEqual([96, 54]);
  });

  it("creates a video from an upload", async () => {
    const file = await toFile(Buffer.from(await createImageAsset("beach").bytes()), "beach.png", { type: "image/png" });
    const { uri } = await client().uploads.createEphemeral({ file });
    expect(uri).toMatch(/^runway:\/\//);
    const input = { model: "gen4_turbo", promptImage: uri, ratio: "1280:720", duration: 5 } as const;
    const { output } = await ended(await client().imageToVideo.create(input));
    expect((await bytesAt(output[0])).length).toBeGreaterThan(1000);
    expect(fakeVendor.invalidRequests).toEqual([]);
  });

  it("reports why a task failed", async () => {
    const failureOf = async (task: { id: string }) => {
      const thrown = await ended(task).catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(TaskFailedError);
      return (thrown as TaskFailedError).taskDetails;
    };
    expect(await failureOf(await generate("forbidden"))).toMatchObject({ failureCode: "SAFETY.INPUT.TEXT" });
    const promptImage = "data:image/png;base64,AAAA";
    const spoiled = await client().imageToVideo.create({ model: "gen4_turbo", promptImage, ratio: "1280:720" });
    expect(await failureOf(spoiled)).toMatchObject({ failureCode: "ASSET.INVALID" });
    fakeVendor.switches.outcome = "failed";
    expect(await failureOf(await generate("x"))).toMatchObject({ failureCode: "INTERNAL.BAD_OUTPUT.CODE01" });
  });

  it("cancels a running task, and deletes an ended one", async () => {
    fakeVendor.switches.workMs = 60_000;
    const task = await generate("a lake");
    await client().tasks.delete(task.id);
    expect(await client().tasks.retrieve(task.id)).toMatchObject({ status: "CANCELLED" });
    await client().tasks.delete(task.id);
    await expect(client().tasks.retrieve(task.id)).rejects.toMatchObject({ status: 404 });
  });

  it("gets a Retry-After when too many tasks run at a time", async () => {
    fakeVendor.switches.workMs = 60_000;
    const tasks = [await generate("one"), await generate("two"), await generate("three")];
    // The third task stays new for the duration of this test.
    fakeVendor.ledger.at(-1)!.acceptedAt += 30_000;
    expect(await client().tasks.retrieve(tasks[2]!.id)).toMatchObject({ status: "THROTTLED" });
    await client().tasks.delete(tasks[0]!.id);
    expect(await client().tasks.retrieve(tasks[2]!.id)).toMatchObject({ status: "PENDING" });
    await Promise.all(tasks.slice(1).map(({ id }) => client().tasks.delete(id)));
  });

  it("reads the remaining credits and the available models", async () => {
    const { creditBalance, tier } = await client().organization.retrieve();
    expect([creditBalance, Object.keys(tier.models)]).toEqual([
      1234,
      [
        ...["gen4_image", "gen4_image_turbo", "gpt_image_2", "gpt_image_2_5_flare"],
        ...["veo3.1", "veo3.1_fast", "gen4_turbo", "gen4.5"],
      ],
    ]);
  });

  it("is rejected with the vendor's messages", async () => {
    await expect(client({ apiKey: "wrong" }).organization.retrieve()).rejects.toMatchObject({ status: 401 });
    await expect(client({ runwayVersion: "2020-01-01" }).organization.retrieve()).rejects.toMatchObject({
      status: 400,
    });
    const odd = { model: "gen4_image", promptText: "x", ratio: "1280:720", width: 4 } as const;
    await expect(client().textToImage.create(odd)).rejects.toMatchObject({
      status: 400,
      error: { error: "Validation of body failed", issues: [{ code: "unrecognized_keys" }] },
    });
    fakeVendor.switches.retired = ["gen4_image"];
    await expect(generate("x")).rejects.toMatchObject({ status: 400, error: { issues: [{ path: ["model"] }] } });
  });
});
