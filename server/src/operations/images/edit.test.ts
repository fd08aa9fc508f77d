import { expect, it } from "vitest";
import { buildJobs } from "../../../test/support/operation-plans.ts";
import { editImage } from "./edit.ts";

const image = "https://example.com/desk.png";
const run = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const input = { image, prompt: "make the lamp blue" };

it("sends the image and then the references to the named model, and to the preferred one without a name", () => {
  const references = [run, { run_id: run, output_index: 1 }, "https://example.com/style.png"];
  const [job, ...others] = buildJobs(editImage, {
    ...input,
    references,
    model: "nanobanana",
    n: 3,
    aspect_ratio: "3:2",
  });
  expect(job).toMatchObject({ task: "image.edit", model: "nanobanana", count: 3, aspect_ratio: "3:2" });
  expect(job?.images).toEqual([{ url: image }, { run }, { run, output: 1 }, { url: "https://example.com/style.png" }]);
  expect(others).toEqual([]);
  expect(buildJobs(editImage, input)[0]).toMatchObject({ model: "edit-default", count: 1, images: [{ url: image }] });
});

it("restores everything outside of the mask, in the shape of the image", () => {
  const [edit, blend] = buildJobs(editImage, { ...input, mask: "https://example.com/mask.png", aspect_ratio: "3:2" });
  const mask = { url: "https://example.com/mask.png" };
  expect(edit).toMatchObject({ task: "image.edit", mask, aspect_ratio: undefined });
  expect(blend).toMatchObject({ task: "image.blend", images: [{ url: image }, { job: 0, every: true }], mask });
});

it("needs an image and a prompt, and takes at most 9 references and 4 results", () => {
  expect(() => buildJobs(editImage, { prompt: "x" })).toThrow("1 field is invalid: image.");
  expect(() => buildJobs(editImage, { image })).toThrow("1 field is invalid: prompt.");
  expect(() => buildJobs(editImage, { ...input, references: Array(10).fill(run) })).toThrow("references");
  expect(() => buildJobs(editImage, { ...input, n: 5 })).toThrow("1 field is invalid: n.");
});
