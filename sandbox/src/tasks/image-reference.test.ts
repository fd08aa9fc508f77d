// Images are called by their tags, and stand in the order of the prompt.
import { expect, test } from "vitest";
import { drawSvg, fetchFirstImage, inlineImage, pixelShare, type RawImage, runToSuccess } from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.reference";
const plain = (colour: string) => drawSvg(120, 120, `<rect width="120" height="120" fill="${colour}"/>`);
const isGreen = ([red = 0, green = 0, blue = 0]: number[]) => green > 170 && red < 50 && blue < 60;
const isViolet = ([red = 0, green = 0, blue = 0]: number[]) => red > 170 && green < 50 && blue > 200;

/** The mean place from left to right of the pixels that count, as a share. */
const middleOf = (raw: RawImage, counts: (pixel: number[]) => boolean): number => {
  let [sum, count] = [0, 0];
  pixelShare(raw, (pixel, x) => {
    if (!counts(pixel)) return false;
    sum += x;
    count += 1;
    return true;
  });
  return sum / count / raw.width;
};

test("each named image is used, in the order of the prompt; others are not", async () => {
  const rig = await startSandboxHarness();
  const images = [inlineImage(await plain("#08c010")), inlineImage(await plain("#c000f0"))];
  const options = { tags: ["anna", "dog"] };
  const fields = { task, images, options, width: 400, height: 300 };
  const both = await fetchFirstImage(rig, { ...fields, prompt: "@dog and @anna in a grey city" });
  expect(pixelShare(both, isGreen)).toBeGreaterThan(0.03);
  expect(middleOf(both, isViolet)).toBeLessThan(middleOf(both, isGreen));
  const turned = await fetchFirstImage(rig, { ...fields, prompt: "@Anna and @dog in a grey city" });
  expect(middleOf(turned, isGreen)).toBeLessThan(middleOf(turned, isViolet));
  const one = await fetchFirstImage(rig, { ...fields, prompt: "only @anna in a grey city" });
  expect(pixelShare(one, isViolet)).toBe(0);
});

test("the used tags are returned, and a resolution is the shorter side", async () => {
  const rig = await startSandboxHarness();
  const images = [inlineImage(await plain("#08c010"))];
  const options = { tags: ["anna"], resolution: "720p" };
  const job = await runToSuccess(rig, { task, prompt: "@anna and @nobody", images, options, aspect_ratio: "16:9" });
  expect(job.data).toEqual({ tags: ["anna"] });
  expect(job.outputs).toMatchObject([{ width: 1280, height: 720 }]);
});

test("more tags than images are refused", async () => {
  const rig = await startSandboxHarness();
  expect((await rig.post({ task, prompt: "@anna", options: { tags: ["anna"] } })).status).toBe(422);
});
