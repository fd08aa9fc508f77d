// The fake Ideogram, tested with a third-party client for the real API. The client supports neither characters nor the
// newer inpainting; those are tested by hand, as the vendor documents them.
import IdeogramAPI from "ideogram-api";
import { ASPECT_RATIOS, RESOLUTIONS as THEIRS } from "ideogram-api/config";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RATIOS, RESOLUTIONS } from "../../src/providers/ideogram/resolutions.ts";
import type { FakeVendor } from "./fake-vendor.ts";
import { fakeIdeogram } from "./ideogram.ts";
import { createImageAsset, createMaskAsset } from "./sample-jobs.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await fakeIdeogram.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  Object.assign(fakeVendor.switches, { outcome: "done", refuse: undefined });
});

const key = () => fakeIdeogram.env(fakeVendor).IDEOGRAM_API_KEY!;
/** It insists on https when it is made, so the address is put in afterwards. */
const client = (apiKey = key()) => {
  const made = new IdeogramAPI(apiKey, undefined, "silent");
  Object.assign(made, { baseUrl: fakeVendor.url });
  return made;
};
const bytes = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
const sizeAt = async (url: string) => {
  const { width, height } = await sharp(await bytes(url)).metadata();
  return [width, height];
};

describe("a third-party client", () => {
  it("has the same sizes and aspect ratios as the adapter", () => {
    expect(RESOLUTIONS.toSorted()).toEqual(THEIRS.toSorted());
    expect(RATIOS.map((ratio) => ratio.replace(":", "x")).toSorted()).toEqual(ASPECT_RATIOS.toSorted());
  });

  it("generates as many images as requested, in the requested shape", async () => {
    const { data } = await client().generate({ prompt: "a cat", aspectRatio: "16x9", numImages: 2, seed: 3 });
    expect(data).toHaveLength(2);
    expect(await sizeAt(data[0]!.url)).toEqual([96, 54]);
    expect(data[0]).toMatchObject({ is_image_safe: true, seed: 3, prompt: "a cat" });
  });

  it("remixes and reframes an image", async () => {
    const image = Buffer.from(await createImageAsset("desk").bytes());
    const remixed = await client().remix({ prompt: "in oil", image, imageWeight: 70, resolution: "1248x832" });
    expect(await sizeAt(remixed.data[0]!.url)).toEqual([1248, 832]);
    const reframed = await client().reframe({ image, resolution: "1536x640" });
    expect(await sizeAt(reframed.data[0]!.url)).toEqual([1536, 640]);
  });

  it("edits the black area of a mask", async () => {
    const image = Buffer.from(await createImageAsset("desk").bytes());
    const mask = Buffer.from(await createMaskAsset().bytes());
    const { data } = await client().edit({ prompt: "a plant", image, mask });
    const pixels = await sharp(await bytes(data[0]!.url))
      .removeAlpha()
      .raw()
      .toBuffer();
    const before = await sharp(image).removeAlpha().raw().toBuffer();
    const at = (x: number, y: number) => (y * 64 + x) * 3;
    expect(pixels.subarray(at(32, 32), at(33, 32))).toEqual(before.subarray(at(32, 32), at(33, 32)));
    expect(pixels.subarray(at(2, 2), at(3, 2))).not.toEqual(before.subarray(at(2, 2), at(3, 2)));
  });

  it("describes an image", async () => {
    const image = Buffer.from(await createImageAsset("desk").bytes());
    const { descriptions } = await client().describe({ image });
    expect(descriptions[0]?.text).toMatch(/^A plain image/);
  });

  it("reports why a request is rejected", async () => {
    await expect(client("wrong").generate({ prompt: "a cat" })).rejects.toThrow("Authentication failed");
    await expect(client().generate({ prompt: "a forbidden cat" })).rejects.toThrow("Validation failed");
    fakeVendor.switches.refuse = { times: 1, status: 429 };
    await expect(client().generate({ prompt: "a cat" })).rejects.toThrow("Rate limit exceeded");
    await expect(client().generate({ prompt: "a cat", aspectRatio: "7x3" })).rejects.toThrow("Invalid input");
  });

  it("gets no URL of an unsafe image", async () => {
    fakeVendor.switches.outcome = "moderated";
    const { data } = await client().generate({ prompt: "a cat" });
    expect(data).toMatchObject([{ url: null, is_image_safe: false }]);
  });
});

describe("plain HTTP", () => {
  const post = async (path: string, fields: Record<string, string | Uint8Array>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === "string") form.append(name, value);
      else form.append(name, new Blob([Buffer.from(value)], { type: "image/png" }), `${name}.png`);
    }
    return fetch(`${fakeVendor.url}${path}`, { method: "POST", headers: { "api-key": key() }, body: form });
  };

  it("accepts a character, but not with every style", async () => {
    const character_reference_images = await createImageAsset("hero").bytes();
    const input = { prompt: "in a cafe", character_reference_images };
    expect((await post("/v1/ideogram-v3/generate", { ...input, style_type: "FICTION" })).status).toBe(200);
    expect((await post("/v1/ideogram-v3/generate", { ...input, style_type: "DESIGN" })).status).toBe(400);
  });

  it("requires a mask of the image's size, and a size or an aspect ratio but not both", async () => {
    const image = await createImageAsset("desk").bytes();
    const mask = await createMaskAsset(32, 32).bytes();
    expect((await post("/v1/ideogram-v3/inpaint", { prompt: "a", image, mask })).status).toBe(400);
    const both = { prompt: "a", resolution: "1024x1024", aspect_ratio: "1x1" };
    expect((await post("/v1/ideogram-v3/generate", both)).status).toBe(400);
  });

  it("removes a background", async () => {
    const response = await post("/v1/remove-background", { image: await createImageAsset("desk").bytes() });
    const { data } = (await response.json()) as { data: { url: string }[] };
    expect((await sharp(await bytes(data[0]!.url)).metadata()).hasAlpha).toBe(true);
  });
});
