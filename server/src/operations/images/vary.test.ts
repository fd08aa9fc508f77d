import { expect, it } from "vitest";
import { buildJobs } from "../../../test/support/operation-plans.ts";
import { varyImage } from "./vary.ts";

const image_url = "https://example.com/desk.png";
const run_id = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

it("edits the source with a fixed prompt, twice unless the caller sends another number", () => {
  const [job] = buildJobs(varyImage, { image_url });
  expect(job).toMatchObject({ task: "image.edit", model: "edit-default", images: [{ url: image_url }], count: 2 });
  expect(job?.prompt).toBeTruthy();
  expect(buildJobs(varyImage, { image_url, n: 4, seed: 7 })[0]).toMatchObject({ count: 4, seed: 7 });
});

it.each([0, 5, 1.5])("refuses %j variations", (n) => {
  expect(() => buildJobs(varyImage, { image_url, n })).toThrow("1 field is invalid: n.");
});

it("needs a source, and the source run becomes the parent", () => {
  expect(() => buildJobs(varyImage, {})).toThrow("1 field is invalid: image_url.");
  expect(buildJobs(varyImage, { run_id })[0]?.images).toEqual([{ run: run_id }]);
  expect(varyImage.parent!({ run_id })).toBe(run_id);
});
