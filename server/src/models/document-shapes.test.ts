// The shapes of documents that newer generators write, and inputs made from every document in the shapes of fal and
// Replicate.
import { expect, test } from "vitest";
import * as documents from "../../test/model-schemas/documents.ts";
import { generateInputs, judgeInputs } from "../../test/model-schemas/judge-inputs.ts";
import * as unusual from "../../test/model-schemas/unusual-documents.ts";
import type { PinnedModel } from "../contract/pinned-model.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { importModel } from "./import-model.ts";
import { createInputValidator } from "./validate-input.ts";

type Document = JsonObject & { info?: { "x-fal-metadata": { endpointId: string } }; owner?: string; name?: string };

const pin = (document: Document): PinnedModel => {
  const path = document.info?.["x-fal-metadata"].endpointId;
  const imported = importModel(path ? "fal" : "replicate", path ?? `${document.owner}/${document.name}`, document);
  if ("refused" in imported) throw new Error(imported.refused);
  return imported.model;
};
const validator = createInputValidator();
const issuesOf = (document: Document, input: JsonObject) =>
  validator.findIssues(pin(document), input).map(({ path, code }) => `${path} ${code}`);
const filesOf = (document: Document) => {
  const { input, output } = pin(document).media;
  return [...input, ...output].map(({ pointer, kind }) => `${pointer} ${kind}`);
};

test("OpenAPI 3.1 has lists of types, constants, and words beside references", () => {
  const input = { prompt: "a", first_frame_url: "https://example.com/a.png" };
  const all = {
    last_frame_url: null,
    resolution: "2160p",
    ratio: null,
    strength: 1,
    crop: [1, 2],
    api_version: "2026-01",
  };
  expect(issuesOf(unusual.OPENAPI_31, { ...input, ...all })).toEqual([]);
  expect(issuesOf(unusual.OPENAPI_31, { ...input, resolution: "4k", ratio: "1:1", strength: 0, crop: [1] })).toEqual([
    "/input/resolution unknown_value",
    "/input/ratio unknown_value",
    "/input/strength out_of_range",
    "/input/crop too_few_items",
  ]);
  expect(issuesOf(unusual.OPENAPI_31, { ...input, api_version: "2025-12" })).toEqual([
    "/input/api_version unknown_value",
  ]);
  expect(filesOf(unusual.OPENAPI_31)).toEqual(["/first_frame_url image", "/last_frame_url image", "/video/url video"]);
});

test("a field that says which form is meant decides which errors are named", () => {
  const track = (more: JsonObject) =>
    issuesOf(unusual.DISCRIMINATED, { tracks: [{ kind: "title", title: "a" }, more] });
  expect(track({ kind: "image", image_url: "https://example.com/a.png", seconds: 1 })).toEqual([]);
  expect(track({ kind: "sound", audio_ulr: "https://example.com/a.wav" })).toEqual([
    "/input/tracks/1/audio_url required",
    "/input/tracks/1/audio_ulr unknown_field",
  ]);
  expect(issuesOf(unusual.DISCRIMINATED, { tracks: [] })).toEqual(["/input/tracks too_few_items"]);
  expect(filesOf(unusual.DISCRIMINATED)).toEqual([
    ...["/tracks/*/image_url image", "/tracks/*/audio_url audio"],
    ...["/video_url video", "/thumbnail_url image"],
  ]);
});

test("files are objects, texts or objects, and in lists and maps", () => {
  const image = { url: "https://example.com/a.png" };
  const input = { images: [image], characters: { anna: { portrait: image } } };
  expect(issuesOf(unusual.FILES_AS_OBJECTS, { ...input, style_image: image.url })).toEqual([]);
  expect(issuesOf(unusual.FILES_AS_OBJECTS, { ...input, style_image: image })).toEqual([]);
  expect(issuesOf(unusual.FILES_AS_OBJECTS, { images: [{ ulr: image.url }] })).toContain(
    "/input/images/0/ulr unknown_field",
  );
  expect(filesOf(unusual.FILES_AS_OBJECTS)).toEqual([
    ...["/images/*/url image", "/style_image image", "/style_image/url image", "/characters/*/portrait/url image"],
    ...["/font_file file", "/board/url file", "/layers/*/url file"],
  ]);
});

test("a field that only results have is neither required in an input nor accepted", () => {
  expect(issuesOf(unusual.FILES_AS_OBJECTS, { images: [] })).toEqual([]);
  expect(issuesOf(unusual.FILES_AS_OBJECTS, { images: [], job_id: "a" })).toEqual(["/input/job_id unknown_field"]);
});

test("an object that takes any field keeps the rules of the fields that it names", () => {
  expect(issuesOf(unusual.OPEN_OBJECTS, { prompt: "a", other: [1], anything: { a: [] }, seeds: { a: 1 } })).toEqual([]);
  expect(
    issuesOf(unusual.OPEN_OBJECTS, { prompt: 1, seeds: { a: -1 }, labels: { A: "b" }, options: { step: 1 } }),
  ).toEqual([
    "/input/prompt invalid_type",
    "/input/seeds/a out_of_range",
    "/input/labels/A unknown_field",
    "/input/options/step unknown_field",
  ]);
});

test("an input behind a reference, with a field of the name input, is that of the model", () => {
  const model = pin(unusual.NESTED_INPUT);
  expect(model).toMatchObject({ order: ["image", "input"], version: "a1b2c3" });
  expect(issuesOf(unusual.NESTED_INPUT, { image: null, input: { text: "a", sampler: null } })).toEqual([]);
  expect(issuesOf(unusual.NESTED_INPUT, { input: { text: "", sampler: "ddim", step: 1 } })).toEqual([
    "/input/input/step unknown_field",
    "/input/input/text out_of_range",
    "/input/input/sampler unknown_value",
  ]);
  expect(filesOf(unusual.NESTED_INPUT)).toEqual(["/image image", " file", "/* file"]);
});

test("lists of files can be null, and a file can stand for a list", () => {
  const { REPLICATE_REFERENCES: document } = unusual;
  const url = "https://example.com/a.png";
  expect(
    issuesOf(document, { prompt: "a", reference_images: null, audio: url, guidance: 1.5, megapixels: "4" }),
  ).toEqual([]);
  expect(issuesOf(document, { prompt: "a", audio: [url, url], seed: null })).toEqual([]);
  expect(issuesOf(document, { prompt: "a", guidance: 1, reference_images: [url, url, url, url, url] })).toEqual([
    "/input/reference_images too_many_items",
    "/input/guidance out_of_range",
  ]);
  expect(filesOf(document)).toEqual([
    ...["/reference_images/* image", "/audio/* audio", "/audio audio"],
    ...["/image image", "/depth file"],
  ]);
});

test("an input that extends another has the fields of both and no others", () => {
  const { INHERITED: document } = unusual;
  const url = "https://example.com/a";
  expect(issuesOf(document, { prompt: "a", video_url: url, seed: null, first_frame: url, last_frame: url })).toEqual(
    [],
  );
  expect(issuesOf(document, { video_url: url, last_frame: url, sed: 1 })).toEqual([
    "/input/prompt required",
    "/input/first_frame required",
    "/input/sed unknown_field",
  ]);
  expect(filesOf(document)).toEqual([
    "/first_frame image",
    "/last_frame image",
    "/video_url video",
    "/video/url video",
  ]);
});

const ALL: [name: string, document: unknown][] = Object.entries({ ...documents, ...unusual }).filter(
  ([, value]) => typeof value !== "function",
);

test("generated inputs test twenty documents of models", () => {
  expect(ALL).toHaveLength(20);
});

test.each(ALL)("generated inputs of %s are sent as they are, and refused where they are wrong", (_, document) => {
  const model = pin(document as Document);
  const judged = judgeInputs(model, document as JsonObject, generateInputs(model, { count: 30, seed: 1 }), validator);
  expect(judged.problems).toEqual([]);
  expect(judged).toMatchObject({ valid: 30 });
});
