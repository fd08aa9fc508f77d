import { expect, it } from "vitest";
import { buildJobs } from "../../../test/support/operation-plans.ts";
import { upscaleImage } from "./upscale.ts";

const image_url = "https://example.com/desk.png";
const run_id = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

it("upscales the source by 2 unless the caller sends another factor", () => {
  const job = { task: "image.upscale", model: "upscale-default", images: [{ url: image_url }] };
  expect(buildJobs(upscaleImage, { image_url })).toEqual([{ ...job, options: { factor: 2 } }]);
  expect(buildJobs(upscaleImage, { image_url, factor: 4 })).toEqual([{ ...job, options: { factor: 4 } }]);
});

it.each([1, 3, 8, "2"])("refuses the factor %j", (factor) => {
  expect(() => buildJobs(upscaleImage, { image_url, factor })).toThrow("1 field is invalid: factor.");
});

it("needs a source, and prefers a URL to a run, which becomes the parent", () => {
  expect(() => buildJobs(upscaleImage, {})).toThrow("1 field is invalid: image_url.");
  expect(buildJobs(upscaleImage, { image_url, run_id })[0]?.images).toEqual([{ url: image_url }]);
  expect(upscaleImage.parent!({ run_id })).toBe(run_id);
});
