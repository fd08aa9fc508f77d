import sharp from "sharp";
import { expect, it } from "vitest";
import { createJob, imageFromLetters, outputBytes } from "../../../test/support/ascii-images.ts";
import { runPixelTask } from "../../../test/support/isolated-pixels.ts";
import { local } from "../local.ts";
import type { JobDone, ProviderContext } from "../provider.ts";

const offer = local.offers.find(({ task }) => task === "image.resize")!;
const resize = async (scale: unknown) => {
  const job = createJob("image.resize", { images: [await imageFromLetters(["RGB", "RGB"])], options: { scale } });
  return (await local.submit(job, offer, { runPixelTask } as ProviderContext<unknown>)) as JobDone;
};

it("reduces an image to a share of its sides, as a PNG", async () => {
  const [bytes] = outputBytes(await resize(0.75));
  expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 18, height: 16 });
});

it("refuses a share that is not a share", async () => {
  for (const scale of [0, 1.5, "half", undefined])
    await expect(resize(scale)).rejects.toMatchObject({ code: "provider_rejected_input" });
});
