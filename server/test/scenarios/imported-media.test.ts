// What imported models take and make beside a plain image: two frames of a video, transparent images, images of 4K, an
// archive of training data and the weights that were made from it. Every file is stored, linked and marked.
import { createHash } from "node:crypto";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { FILE, publishAtFal } from "../model-schemas/published.ts";
import { OPENAPI_31 } from "../model-schemas/unusual-documents.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const text = { type: "string" };
const PUBLISHED: Record<string, unknown> = {
  "acme/first-and-last-frame": OPENAPI_31,
  "acme/sticker": publishAtFal("acme/sticker", {
    input: {
      required: ["prompt"],
      properties: {
        prompt: text,
        quality: { type: "string", enum: ["low", "medium", "high"], default: "medium" },
        background: { type: "string", enum: ["auto", "opaque", "transparent"], default: "auto" },
        image_size: {
          type: "object",
          properties: { width: { type: "integer", maximum: 4096 }, height: { type: "integer", maximum: 4096 } },
        },
        lora_url: { ...text, description: "URL of the weights of a style" },
      },
    },
    output: { properties: { image: { $ref: "#/components/schemas/Image" } } },
    schemas: { Image: FILE({ width: { type: "integer" } }) },
  }),
  "acme/trainer": publishAtFal("acme/trainer", {
    input: {
      required: ["images_data_url"],
      properties: { images_data_url: { ...text, description: "URL of a zip archive" }, steps: { type: "integer" } },
    },
    output: { properties: { diffusers_lora_file: { $ref: "#/components/schemas/File" } } },
    schemas: { File: FILE() },
  }),
};

let fal: FakeVendor;
let world: TestEnvironment;
let caller: ApiCaller;

beforeAll(async () => {
  fal = await fakeFal.start();
  Object.assign(fal.switches.published, PUBLISHED);
  world = await startTestEnvironment({
    env: { ...fakeFal.env(fal), PROVENANCE: "mark", PUBLIC_URL_IS_REACHABLE: "true" },
  });
  caller = createHttpCaller(world);
  for (const path of Object.keys(PUBLISHED)) {
    const { status, body } = await caller.post("/catalogue/models", { model: `fal:${path}` });
    expect([path, status, body.details]).toEqual([path, 200, undefined]);
  }
}, 120_000);
afterAll(async () => {
  await world?.stop();
  await fal?.close();
}, 60_000);

async function run(model: string, input: object) {
  const { status, body } = await caller.post("/runs", { model: `fal:${model}`, input });
  expect([status, body.details]).toEqual([202, undefined]);
  const ended = await caller.waitUntilEnded(body.run_id);
  expect(ended.error).toBeNull();
  return ended;
}
const lastRequest = () => fal.ledger.at(-1)!.request as Record<string, any>;
const read = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
const edgesOf = async (runId: string) => (await caller.get(`/runs/${runId}/tree`)).body.edges;

describe("A video between two frames", () => {
  it("receives the first and the last frame in their fields, and is linked to the runs of both", async () => {
    const [first, last] = [
      await run("acme/sticker", { prompt: "dawn" }),
      await run("acme/sticker", { prompt: "dusk" }),
    ];
    const video = await run("acme/first-and-last-frame", {
      prompt: "a day passes",
      first_frame_url: { run_id: first.run_id },
      last_frame_url: last.outputs[0].url,
      resolution: "1080p",
    });
    expect(await read(lastRequest().first_frame_url)).toEqual(await read(first.outputs[0].url));
    expect(await read(lastRequest().last_frame_url)).toEqual(await read(last.outputs[0].url));
    expect(lastRequest()).toMatchObject({ prompt: "a day passes", resolution: "1080p" });
    expect(video).toMatchObject({ parent_run_id: first.run_id, outputs: [{ media_type: "video/mp4" }] });
    expect(video.outputs[0].provenance.status).toBe("marked");
    expect(await edgesOf(video.run_id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ from: video.run_id, to: first.run_id, kind: "parent" }),
        expect.objectContaining({ from: video.run_id, to: last.run_id, kind: "reference" }),
      ]),
    );
    const still = await run("acme/first-and-last-frame", {
      prompt: "the next day",
      first_frame_url: { run_id: video.run_id, frame: "last" },
    });
    expect((await sharp(await read(lastRequest().first_frame_url)).metadata()).width).toBe(128);
    expect(still.parent_run_id).toBe(video.run_id);
  });
});

describe("A transparent image", () => {
  it("keeps its alpha channel when it is stored and marked", async () => {
    const made = await run("acme/sticker", { prompt: "a fox", quality: "high", background: "transparent" });
    expect(lastRequest()).toEqual({ prompt: "a fox", quality: "high", background: "transparent" });
    const [output] = made.outputs;
    expect(output).toMatchObject({ media_type: "image/png", provenance: { status: "marked" } });
    const stored = await read(output.url);
    expect(createHash("sha256").update(stored).digest("hex")).toBe(output.sha256);
    const { data, info } = await sharp(stored).raw().toBuffer({ resolveWithObject: true });
    expect(info.channels).toBe(4);
    const alphas = new Set(data.filter((_, index) => index % 4 === 3));
    expect([...alphas]).toEqual([51]);
    const edited = await run("acme/first-and-last-frame", { prompt: "it runs", first_frame_url: made.run_id });
    expect((await sharp(await read(lastRequest().first_frame_url)).metadata()).hasAlpha).toBe(true);
    expect(edited.parent_run_id).toBe(made.run_id);
  });
});

describe("An image of 4K", () => {
  it("is stored in its full size, with thumbnails and a mark", async () => {
    const made = await run("acme/sticker", { prompt: "a coast", image_size: { width: 3840, height: 2160 } });
    const [output] = made.outputs;
    expect(output).toMatchObject({ width: 3840, height: 2160, provenance: { status: "marked" } });
    expect(await sharp(await read(output.url)).metadata()).toMatchObject({ width: 3840, height: 2160 });
    for (const [size, side] of Object.entries({ small: 320, large: 640 })) {
      const thumbnail = await sharp(await read(output.thumbnails[size])).metadata();
      expect([size, Math.max(thumbnail.width, thumbnail.height)]).toEqual([size, side]);
    }
  });
});

describe("A training", () => {
  it("takes an archive, and its weights are a file that the next model takes", async () => {
    const archive = Buffer.from("504b0506".padEnd(44, "0"), "hex");
    const training = await run("acme/trainer", {
      images_data_url: `data:application/zip;base64,${archive.toString("base64")}`,
      steps: 10,
    });
    expect(await read(lastRequest().images_data_url)).toEqual(archive);
    expect(training.inputs.input.images_data_url).toMatch(/^asset:/);
    const [weights] = training.outputs;
    expect(weights).toMatchObject({ media_type: "application/octet-stream", width: null, thumbnails: null });
    expect(fal.producedHashes).toContain(
      createHash("sha256")
        .update(await read(weights.url))
        .digest("hex"),
    );
    expect(training.warnings.join(" ")).toMatch(/mark/i);
    const made = await run("acme/sticker", { prompt: "a fox", lora_url: { run_id: training.run_id } });
    expect(await read(lastRequest().lora_url)).toEqual(await read(weights.url));
    expect(made.parent_run_id).toBe(training.run_id);
  });
});
