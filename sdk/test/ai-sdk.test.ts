// The AI SDK gets its images and videos from Gesso, through the client.
import { experimental_generateVideo, generateImage } from "ai";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Installation, openSharedInstallation } from "../../server/test/support/shared-installation.ts";
import { gesso } from "../src/ai-sdk.ts";
import { createClient } from "../src/index.ts";

let started: Installation;
beforeAll(async () => {
  started = await openSharedInstallation();
});
afterAll(() => started?.stop());

it("[SDK-18] generateImage gives a PNG, experimental_generateVideo an MP4", async () => {
  const app = gesso(createClient({ baseUrl: started.url, apiKey: started.key }));
  const prompt = "a red bicycle";
  const { image, images } = await generateImage({ model: app.image("flux-dev"), prompt, size: "64x64", n: 2 });
  expect(images).toHaveLength(2);
  expect(image.mediaType).toBe("image/png");
  expect((await sharp(image.uint8Array).metadata()).width).toBe(64);
  const result = await experimental_generateVideo({
    model: app.video(),
    prompt: { image: image.uint8Array, text: "it rolls away" },
    duration: 1,
    fps: 8,
  });
  expect(result.video.mediaType).toBe("video/mp4");
  expect(Buffer.from(result.video.uint8Array.slice(4, 8)).toString()).toBe("ftyp");
});
