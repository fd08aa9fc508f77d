import { expect, test } from "vitest";
import * as documents from "../../test/model-schemas/documents.ts";
import { falDocument } from "../../test/model-schemas/documents.ts";
import type { PinnedModel } from "../contract/pinned-model.ts";
import { importModel } from "./import-model.ts";
import { createInputValidator } from "./validate-input.ts";

const pin = (path: string, document: unknown): PinnedModel => {
  const imported = importModel("fal", path, document);
  if ("refused" in imported) throw new Error(imported.refused);
  return imported.model;
};
const VIDEO = pin("acme/text-to-video", documents.TEXT_TO_VIDEO);
const EDIT = pin("acme/edit", documents.IMAGE_EDIT);
const PARTS = pin("acme/parts", documents.MANY_PARTS);
const { findIssues } = createInputValidator();
const IMAGE = { prompt: "a", image_urls: ["https://example.com/a.png"] };

test("a misspelt field names the nearest one", () => {
  expect(findIssues(VIDEO, { prompt: "a", duratoin: "8s" })).toEqual([
    { path: "/input/duratoin", code: "unknown_field", message: "Unknown field. Did you mean duration?" },
  ]);
  expect(findIssues(VIDEO, { prompt: "a", xyz: 1 })).toEqual([
    { path: "/input/xyz", code: "unknown_field", message: "Unknown field." },
  ]);
  expect(findIssues(PARTS, { camera: { zoon: 1 } })[0]?.message).toBe("Unknown field. Did you mean zoom?");
});

test("every field that is wrong has one issue, in the words of the API", () => {
  const model = pin(
    "acme/a",
    falDocument("acme/a", {
      required: ["needed"],
      properties: {
        needed: { type: "string" },
        values: { type: "string", enum: ["4s", "6s"] },
        least: { type: "integer", minimum: 1 },
        most: { type: "number", maximum: 2 },
        steps: { type: "number", multipleOf: 0.1 },
        short: { type: "string", minLength: 2 },
        long: { type: "string", maxLength: 1 },
        few: { type: "array", minItems: 1, items: { type: "string" } },
        many: { type: "array", maxItems: 1, items: { type: "string" } },
        twice: { type: "array", uniqueItems: true, items: { type: "string" } },
        flag: { type: "boolean", nullable: true },
      },
    }),
  );
  const input = {
    ...{ values: "5s", least: 0, most: 3, steps: 0.25, short: "a", long: "ab", few: [], many: ["a", "b"] },
    ...{ twice: ["a", "a"], flag: "yes" },
  };
  expect(findIssues(model, input).map(({ path, code, message }) => `${path} ${code} ${message}`)).toEqual([
    "/input/needed required This field is required.",
    "/input/values unknown_value Must be one of 4s, 6s.",
    "/input/least out_of_range Must be at least 1.",
    "/input/most out_of_range Must be at most 2.",
    "/input/steps out_of_range Must be a multiple of 0.1.",
    "/input/short out_of_range Must have at least 2 characters.",
    "/input/long too_long Must have at most 1 character.",
    "/input/few too_few_items Must have at least 1 item.",
    "/input/many too_many_items Must have at most 1 item.",
    "/input/twice unknown_value Must not have the same item twice.",
    "/input/flag invalid_type Must be true or false or null.",
  ]);
  expect(findIssues(model, { needed: "a", steps: 0.3 })).toEqual([]);
});

test("of several forms of a field, the nearest one is explained", () => {
  const issuesFor = (image_size: unknown) => findIssues(EDIT, { ...IMAGE, image_size });
  expect(issuesFor({ width: 0 })).toEqual([
    { path: "/input/image_size/width", code: "out_of_range", message: "Must be at least 1." },
  ]);
  expect(issuesFor("huge")).toEqual([
    { path: "/input/image_size", code: "unknown_value", message: "Must be one of auto, square_hd." },
  ]);
  expect(issuesFor(5)).toEqual([
    { path: "/input/image_size", code: "invalid_type", message: "Must be an object or a string." },
  ]);
  expect(findIssues(PARTS, { shape: { kind: "box", width: "x" } })).toEqual([
    { path: "/input/shape/width", code: "invalid_type", message: "Must be a number." },
  ]);
});

test("of a long enumeration the first 20 values are listed", () => {
  const values = Array.from({ length: 30 }, (_, i) => `v${i}`);
  const model = pin("acme/a", falDocument("acme/a", { properties: { voice: { type: "string", enum: values } } }));
  const [issue] = findIssues(model, { voice: "x" });
  expect(issue?.message).toBe(`Must be one of ${values.slice(0, 20).join(", ")} and 10 more.`);
});

const FORMS = [
  ...["https://example.com/a.png", "data:image/png;base64,iVBORw0KGgo=", "iVBORw0KGgo=", "asset:0198c1a2"],
  ...["0198c1a2-5b3c-7d4e-8f90-123456789abc", { run_id: "0198c1a2", output: 1 }],
];
test.each(FORMS)("a file can be given as %s", (file) => {
  const properties = {
    image_url: { type: "string", format: "uri", pattern: "^https?://", maxLength: 20 },
    images: { type: "array", uniqueItems: true, items: { type: "string", ui: { field: "image" } } },
    mask: { type: "object", properties: { url: { type: "string" }, content_type: { type: "string" } } },
  };
  const model = pin("acme/a", falDocument("acme/a", { properties }));
  const input = { image_url: file, images: [file, file], mask: { url: file } };
  const given = structuredClone(input);
  expect(findIssues(model, input)).toEqual([]);
  expect(input).toEqual(given);
});

test("a reference to a run is no value for a field without a file", () => {
  expect(findIssues(EDIT, { ...IMAGE, prompt: { run_id: "1" } })).toEqual([
    { path: "/input/prompt", code: "invalid_type", message: "Must be a string." },
  ]);
});

test("an input that is too large is an issue before it is judged", () => {
  const nested = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
  expect(findIssues(EDIT, nested)[0]).toMatchObject({ path: "/input", code: "out_of_range" });
  expect(findIssues(EDIT, { ...IMAGE, image_urls: Array(1_001).fill("x") })).toEqual([
    { path: "/input/image_urls", code: "too_many_items", message: "Must have at most 1000 items." },
  ]);
  const lists = Array.from({ length: 60 }, () => Array(1_000).fill("x"));
  expect(findIssues(EDIT, { ...IMAGE, image_urls: lists })[0]).toMatchObject({ path: "/input", code: "out_of_range" });
  expect(findIssues(EDIT, { ...IMAGE, prompt: "x".repeat(1_100_000) })[0]).toMatchObject({ code: "too_long" });
  expect(findIssues(EDIT, { ...IMAGE, image_urls: ["x".repeat(3_000_000)] })).toEqual([]);
});

test("any number of wrong fields gives at most 20 issues", () => {
  const wrong = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`wrong_${i}`, 1]));
  expect(findIssues(EDIT, { ...IMAGE, ...wrong })).toHaveLength(20);
});

test("defaults are the provider's: an input without them is not changed", () => {
  const input = { prompt: "a" };
  expect(findIssues(VIDEO, input)).toEqual([]);
  expect(input).toEqual({ prompt: "a" });
});

test("more models than the capacity are judged as before", () => {
  const small = createInputValidator({ capacity: 1 });
  for (let round = 0; round < 3; round++) {
    expect(small.findIssues(VIDEO, { prompt: "a" })).toEqual([]);
    expect(small.findIssues(EDIT, { prompt: "a" })).toHaveLength(1);
  }
});
