// The images that the client takes: files, streams, bytes, URLs, runs, and references in forms.
import { createReadStream, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Installation, openSharedInstallation } from "../../server/test/support/shared-installation.ts";
import { type Client, createClient, fromPath, type ImageSource } from "../src/index.ts";

const SMALL = { width: 64, height: 64 };
let environment: Installation;
let client: Client;
let png: Buffer;
let folder: string;

beforeAll(async () => {
  [environment, folder] = await Promise.all([openSharedInstallation(), mkdtemp(join(tmpdir(), "gesso-sdk-"))]);
  client = createClient({ baseUrl: environment.url, apiKey: environment.key });
  png = await sharp({ create: { width: 48, height: 32, channels: 3, background: "#c33" } })
    .png()
    .toBuffer();
  writeFileSync(join(folder, "red.png"), png);
});

afterAll(async () => {
  await environment?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

describe("image sources", () => {
  it("[SDK-8] accepts eight kinds of sources", async () => {
    const { data } = await client.images.upload({ file: png });
    const sources: Record<string, ImageSource> = {
      buffer: png,
      stream: createReadStream(join(folder, "red.png")),
      blob: new Blob([new Uint8Array(png)]),
      file: new File([new Uint8Array(png)], "red.png"),
      response: await fetch(data.image_url),
      base64: `data:image/png;base64,${png.toString("base64")}`,
      url: data.image_url,
      run: { run_id: data.run_id },
    };
    const describeImage = async ([kind, image_url]: [string, ImageSource]) => {
      const run = await client.images.describe({ image_url, sync: true });
      expect([kind, run.status, run.width]).toEqual([kind, "completed", 48]);
    };
    await Promise.all(Object.entries(sources).map(describeImage));
    const generateFrom = async (reference_image_url: ImageSource) => {
      const made = client.images.generate({ prompt: "in its colours", ...SMALL, reference_image_url });
      expect((await made.wait()).status).toBe("completed");
    };
    await Promise.all([png, { run_id: data.run_id }, fromPath(join(folder, "red.png"))].map(generateFrom));
    const tagged = client.images.reference({ prompt: "@hero walks", images: [{ image_reference: png, tag: "hero" }] });
    expect((await tagged.wait()).status).toBe("completed");
    const images = JSON.stringify([{ image_reference: data.run_id, tag: "hero" }]);
    const asText = client.images.reference.formData({ prompt: "@hero walks", images });
    expect((await asText.wait()).status).toBe("completed");
    await expect(client.images.reference.formData({ prompt: "@hero walks", images: "[" })).rejects.toThrow(
      "images: Must be an array.",
    );
    const seen: number[] = [];
    await client.images.upload({ file: png }, { onUpload: ({ sentBytes }) => seen.push(sentBytes) });
    expect(seen.at(-1)).toBe(png.length);
  });
});
