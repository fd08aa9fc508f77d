// The adapter of Ideogram against its fake vendor: which endpoint a job uses, what the form contains, and how
// its responses are read.
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { fakeIdeogram as vendor } from "../../test/fake-vendors/ideogram.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { colourFromText } from "../../test/fake-vendors/result-files.ts";
import { createImageAsset, createMaskAsset, createSampleJob } from "../../test/fake-vendors/sample-jobs.ts";
import type { Fault } from "../faults/faults.ts";
import { invertMask } from "../files/images/isolated/perform-pixel-task.ts";
import { adjustParameters } from "./adjust-parameters.ts";
import { readProviderFailure } from "./call-provider.ts";
import { nearestResolution } from "./ideogram/resolutions.ts";
import { ideogram } from "./ideogram.ts";
import type { JobDone, ProviderContext, SendRequest } from "./provider.ts";

let fakeVendor: FakeVendor;
const paths: string[] = [];
beforeEach(async () => {
  fakeVendor = await vendor.start();
  paths.length = 0;
});
afterEach(() => fakeVendor.close());

const context = (overrides: Partial<ProviderContext<unknown>> = {}) => {
  const made = createFakeProviderContext(vendor.env(fakeVendor), ideogram, overrides);
  const send: SendRequest = (url, request) => {
    paths.push(new URL(url).pathname);
    return made.send(url, request);
  };
  return { ...made, send };
};
const offer = (task: string) => ideogram.offers.find((each) => each.task === task)!;
const CHARACTER = () => offer("image.character");
const EDIT = () => offer("image.edit");

const made = async (job: ReturnType<typeof createSampleJob>) => {
  const progress = await ideogram.submit(adjustParameters(job, offer(job.task)).job, offer(job.task), context());
  expect(progress.state).toBe("done");
  return progress as JobDone;
};
const faultOf = async (work: Promise<unknown>) => {
  const thrown = (await work.then(
    () => undefined,
    (fault) => fault,
  )) as Fault;
  return [thrown?.code, readProviderFailure(thrown).kind];
};
const asked = () => fakeVendor.ledger.at(-1)!.request;
const read = async (output: JobDone["outputs"][number] | undefined) =>
  Buffer.from(await (await fetch((output as { url: string }).url)).arrayBuffer());

describe("a character", () => {
  const hero = createImageAsset("hero");
  const cafe = createImageAsset("cafe", 120, 80);

  it("is generated from a reference, with options in the provider's spelling", async () => {
    const options = { rendering_speed: "Turbo", style_type: "Fiction", magic_prompt_option: "Off" };
    const job = createSampleJob(CHARACTER(), { images: [hero], aspect_ratio: "16:9", seed: 4294967295, options });
    const { outputs } = await made(job);
    expect(paths).toEqual(["/v1/ideogram-v3/generate"]);
    expect(asked()).toEqual({
      prompt: "reading in a cafe",
      character_reference_images: new Uint8Array(await hero.bytes()),
      rendering_speed: "TURBO",
      style_type: "FICTION",
      magic_prompt: "OFF",
      aspect_ratio: "16x9",
      seed: "2147483647",
    });
    expect(outputs).toHaveLength(1);
  });

  it("without a reference is an ordinary generation that contains only requested fields", async () => {
    await made(createSampleJob(CHARACTER(), { images: undefined }));
    expect(paths).toEqual(["/v1/ideogram-v3/generate"]);
    expect(asked()).toEqual({ prompt: "reading in a cafe" });
  });

  it("is put into an image by a remix, with the image's aspect ratio unless another is requested", async () => {
    await made(createSampleJob(CHARACTER(), { images: [hero, cafe] }));
    expect(paths).toEqual(["/v1/ideogram-v3/remix"]);
    expect(asked()).toMatchObject({ image: new Uint8Array(await cafe.bytes()), resolution: "1248x832" });
    await made(createSampleJob(CHARACTER(), { images: [hero, cafe], aspect_ratio: "4:3" }));
    expect(asked()).toMatchObject({ aspect_ratio: "4x3" });
  });

  it("is painted where the mask is white, which the provider expects as black", async () => {
    const mask = createMaskAsset(120, 80);
    const { outputs } = await made(createSampleJob(CHARACTER(), { images: [hero, cafe], mask, mask_over: 1 }));
    expect(paths).toEqual(["/v1/ideogram-v3/inpaint"]);
    expect(asked()).toEqual({
      prompt: "reading in a cafe",
      image: new Uint8Array(await cafe.bytes()),
      mask: new Uint8Array(await invertMask(await mask.bytes())),
      character_reference_images: new Uint8Array(await hero.bytes()),
    });
    await expectPainted(outputs[0], { width: 120, at: [60, 40], source: "cafe" });
  });

  it.each([
    ["16:9", "1280", "1312x736"],
    ["1:1", "720", "1024x1024"],
    ["2:3", 2048, "832x1248"],
  ])("of %s with a longer side of %s is requested as %s", async (aspect_ratio, resolution, size) => {
    await made(createSampleJob(CHARACTER(), { images: [hero], aspect_ratio, options: { resolution } }));
    expect(asked()).toMatchObject({ resolution: size });
    expect(asked()).not.toHaveProperty("aspect_ratio");
  });
});

it("has the nearest size; the aspect ratio counts most", () => {
  expect(nearestResolution({ width: 3, height: 2 })).toBe("1248x832");
  expect(nearestResolution({ width: 10, height: 1 })).toBe("1536x512");
  expect(nearestResolution({ width: 400, height: 400 }, 2048)).toBe("1024x1024");
});

async function expectPainted(
  output: JobDone["outputs"][number] | undefined,
  { width, at: [x, y], source }: { width: number; at: [number, number]; source: string },
) {
  const data = await sharp(await read(output))
    .removeAlpha()
    .raw()
    .toBuffer();
  const pixel = (left: number, top: number) => [
    ...data.subarray((top * width + left) * 3, (top * width + left) * 3 + 3),
  ];
  expect(pixel(1, 1)).toEqual(Object.values(colourFromText(source)));
  expect(pixel(x, y)).not.toEqual(pixel(1, 1));
}

describe("other tasks", () => {
  it("edit within a mask", async () => {
    const { outputs } = await made(
      createSampleJob(EDIT(), { images: [createImageAsset("desk")], mask: createMaskAsset(), count: 2 }),
    );
    expect(paths).toEqual(["/v1/ideogram-v3/inpaint"]);
    expect(asked()).toMatchObject({ prompt: "make it night", num_images: "2" });
    expect(outputs).toHaveLength(2);
    await expectPainted(outputs[1], { width: 64, at: [32, 32], source: "desk" });
  });

  it("do not include edits without a mask", () => {
    expect(EDIT().supports?.({ mask: undefined, images: [1], options: undefined })).toBe(false);
  });

  it("remove a background", async () => {
    const { outputs } = await made(createSampleJob(offer("image.remove-background")));
    expect(paths).toEqual(["/v1/remove-background"]);
    expect((await sharp(await read(outputs[0])).metadata()).hasAlpha).toBe(true);
  });

  it.each([
    ["short", "An image."],
    ["normal", "A plain image in one colour, seen from the front."],
    ["long", "A plain image in one colour, seen from the front."],
  ])("describe an image, %s", async (detail, description) => {
    const { outputs, data } = await made(createSampleJob(offer("image.describe"), { options: { detail } }));
    expect(paths).toEqual(["/describe"]);
    expect(outputs).toEqual([]);
    expect(data).toEqual({ description, tags: [], prompt: description, width: 64, height: 64 });
  });

  it("send valid requests for every offer", async () => {
    for (const each of ideogram.offers) await made(createSampleJob(each));
    expect(fakeVendor.ledger).toHaveLength(ideogram.offers.length);
    expect(fakeVendor.invalidRequests).toEqual([]);
  });
});

describe("a response", () => {
  const submit = (more: object = {}) => ideogram.submit(createSampleJob(CHARACTER(), more), CHARACTER(), context());

  it("of status 422 is content_refused, and costs nothing", async () => {
    expect(await faultOf(submit({ prompt: "a forbidden cat" }))).toEqual(["content_refused", "refused"]);
    expect(fakeVendor.ledger).toEqual([]);
  });

  it("with an unsafe image is content_refused, although its status is 200", async () => {
    fakeVendor.switches.outcome = "moderated";
    expect(await faultOf(submit())).toEqual(["content_refused", "refused"]);
  });

  it("without an image is a failure", async () => {
    fakeVendor.switches.outcome = "failed";
    expect(await faultOf(submit())).toEqual(["provider_error", "failed"]);
  });

  it.each([
    [400, ["provider_rejected_input", "refused"]],
    [401, ["model_unavailable", "refused"]],
    [402, ["model_unavailable", "refused"]],
    [429, ["provider_error", "busy"]],
    [500, ["provider_error", "unknown"]],
  ] as const)("of status %i becomes the right fault", async (status, fault) => {
    fakeVendor.switches.refuse = { times: 1, status };
    expect(await faultOf(submit())).toEqual(fault);
  });

  it("with several images yields the safe ones", async () => {
    const data = [
      { url: null, is_image_safe: false },
      { url: "https://ideogram.ai/api/images/ephemeral/a.png", is_image_safe: true },
    ];
    const send: SendRequest = async () => ({ status: 200, header: () => undefined, text: JSON.stringify({ data }) });
    const within = createFakeProviderContext(vendor.env(fakeVendor), ideogram, { send });
    expect(await ideogram.submit(createSampleJob(CHARACTER()), CHARACTER(), within)).toEqual({
      state: "done",
      outputs: [{ url: data[1]!.url }],
    });
  });

  it("that is lost leaves the outcome unknown, and the job cannot be looked up", async () => {
    fakeVendor.switches.drop = { times: 1, when: "after" };
    expect(await faultOf(submit())).toEqual(["provider_error", "unknown"]);
    expect(fakeVendor.ledger).toHaveLength(1);
    expect((await faultOf(ideogram.poll({}, context())))[0]).toBe("internal_error");
  });
});

describe("the probe", () => {
  it("only checks the key", async () => {
    expect(await ideogram.probe!(ideogram.offers, context())).toEqual({
      message: "the key works",
      missing: [],
      unasked: ["ideogram-v3", "remove-background", "describe"],
    });
    const wrong = createFakeProviderContext({ ...vendor.env(fakeVendor), IDEOGRAM_API_KEY: "wrong" }, ideogram);
    expect(await faultOf(ideogram.probe!(ideogram.offers, wrong))).toEqual(["model_unavailable", "refused"]);
    expect(fakeVendor.ledger).toEqual([]);
  });
});
