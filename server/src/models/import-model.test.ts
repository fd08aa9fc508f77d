import { expect, test } from "vitest";
import * as documents from "../../test/model-schemas/documents.ts";
import { falDocument, replicateModel } from "../../test/model-schemas/documents.ts";
import type { PinnedModel } from "../contract/pinned-model.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { importModel } from "./import-model.ts";
import { createInputValidator } from "./validate-input.ts";

const pin = (provider: string, path: string, document: unknown): PinnedModel => {
  const imported = importModel(provider, path, document);
  if ("refused" in imported) throw new Error(imported.refused);
  return imported.model;
};
const fal = (path: string, document: unknown) => pin("fal", `acme/${path}`, document);
const replicate = (path: string, document: unknown) => pin("replicate", `acme/${path}`, document);
const refusalOf = (provider: string, path: string, document: unknown) => {
  const imported = importModel(provider, path, document);
  return "refused" in imported ? imported.refused : undefined;
};
const mediaOf = ({ media }: PinnedModel) => ({
  input: media.input.map(({ pointer, kind }) => `${pointer} ${kind}`),
  output: media.output.map(({ pointer, kind }) => `${pointer} ${kind}`),
});
const issuesOf = (model: PinnedModel, input: JsonObject) =>
  createInputValidator()
    .findIssues(model, input)
    .map(({ path, code }) => `${path} ${code}`);

test("text to video is pinned with its names, order and kind, without the field that only the adapter may set", () => {
  const model = fal("text-to-video", documents.TEXT_TO_VIDEO);
  expect(model).toMatchObject({
    ...{ model: "fal:acme/text-to-video", provider: "fal", upstream: "acme/text-to-video", version: null },
    ...{ order: ["prompt", "duration", "generate_audio"], category: "image-to-image", title: null },
  });
  expect(model.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(mediaOf(model)).toEqual({ input: [], output: ["/video/url video"] });
  expect(model.input).toMatchObject({
    additionalProperties: false,
    properties: { prompt: { description: "What happens", examples: ["A boat lands"] } },
  });
  expect(issuesOf(model, { prompt: "a", duration: "8s", generate_audio: false })).toEqual([]);
  expect(issuesOf(model, { prompt: "a", sync_mode: true })).toEqual(["/input/sync_mode unknown_field"]);
});

test("an enumeration with the name sync_mode is a parameter and stays", () => {
  const model = fal("lip-sync", documents.LIP_SYNC);
  expect(model.order).toContain("sync_mode");
  expect(mediaOf(model).input).toEqual(["/video_url video", "/audio_url audio"]);
});

test("keywords of OpenAPI 3.0 judge as they do in OpenAPI", () => {
  const model = fal("edit", documents.IMAGE_EDIT);
  const image = { prompt: "a", image_urls: ["https://example.com/a.png"] };
  expect(issuesOf(model, { ...image, mask: null, seed: null, image_size: "auto", style: "ink", strength: 1 })).toEqual(
    [],
  );
  expect(issuesOf(model, { ...image, image_size: { width: 8, height: 5 } })).toEqual([]);
  expect(issuesOf(model, { ...image, strength: 0 })).toEqual(["/input/strength out_of_range"]);
  expect(issuesOf(model, { ...image, style: "oil" })).toEqual(["/input/style unknown_value"]);
  expect(issuesOf(model, { ...image, image_size: { width: 8, depth: 1 } })).toEqual([
    "/input/image_size/depth unknown_field",
  ]);
  expect(mediaOf(model)).toEqual({
    input: ["/image_urls/* image", "/mask image"],
    output: ["/images/*/url image"],
  });
});

test("a misspelt field is refused in every form of object that is not open", () => {
  const model = fal("parts", documents.MANY_PARTS);
  expect(issuesOf(model, { camera: { x: 1, y: 2, zoom: 3 }, position: { x: 1 }, weights: { any: 1 } })).toEqual([]);
  expect(issuesOf(model, { settings: { steps: 1, other: "x" } })).toEqual([]);
  expect(issuesOf(model, { camera: { x: 1, zom: 3 } })).toEqual(["/input/camera/zom unknown_field"]);
  expect(issuesOf(model, { position: { z: 1 } })).toEqual(["/input/position/z unknown_field"]);
  expect(issuesOf(model, { weights: { any: "x" } })).toEqual(["/input/weights/any invalid_type"]);
  expect(issuesOf(model, { shape: { kind: "box", widht: 1 } })).toContain("/input/shape/widht unknown_field");
  expect(JSON.stringify(model.input)).not.toContain("discriminator");
});

test("elements are compared only where they are texts, numbers or flags", () => {
  const { properties } = fal("parts", documents.MANY_PARTS).input as { properties: Record<string, JsonObject> };
  expect(properties.tags).toHaveProperty("uniqueItems", true);
  expect(properties.places).not.toHaveProperty("uniqueItems");
});

test("files are found in lists of objects, in maps, and by their kind", () => {
  expect(mediaOf(fal("reference-to-video", documents.ELEMENTS)).input).toEqual([
    "/elements/*/frontal_image_url image",
    "/elements/*/reference_image_urls/* image",
    "/voices/* audio",
  ]);
  expect(mediaOf(fal("trainer", documents.TRAINER))).toEqual({
    input: ["/images_data_url image"],
    output: ["/diffusers_lora_file/url weights", "/config_file/url weights"],
  });
  const lottie = { type: "object", required: ["url"], properties: { url: { type: "string" }, content_type: {} } };
  const animation = { properties: { lottie_file: { ...lottie, description: "The animation as a JSON file" } } };
  expect(mediaOf(fal("motion", falDocument("acme/motion", {}, { output: animation }))).output).toEqual([
    "/lottie_file/url text",
  ]);
  const types = Object.fromEntries(["VideoFile", "AudioFile", "File"].map((name) => [name, lottie]));
  const typed = {
    mask: { $ref: "#/components/schemas/VideoFile" },
    media: { anyOf: [{ $ref: "#/components/schemas/VideoFile" }, { $ref: "#/components/schemas/AudioFile" }] },
    raw_depths: { $ref: "#/components/schemas/File", description: "Raw depth values as .npz" },
  };
  const matting = falDocument("acme/matting", {}, { output: { properties: typed }, definitions: types });
  expect(mediaOf(fal("matting", matting)).output).toEqual([
    ...["/mask/url video", "/media/url file", "/raw_depths/url file"],
  ]);
  expect(mediaOf(fal("speech", documents.TEXT_TO_SPEECH))).toEqual({ input: [], output: ["/audio/url audio"] });
  expect(mediaOf(fal("image-to-3d", documents.IMAGE_TO_3D)).output).toEqual([
    ...["/model_glb/url model", "/model_urls/fbx/url model", "/model_urls/usdz/url model"],
    ...["/textures/*/url file", "/thumbnail/url image"],
  ]);
});

test("a schema that contains itself in a list is imported", () => {
  const model = fal("tree", documents.TREE);
  expect(issuesOf(model, { name: "a", children: [{ name: "b", children: [{ nam: "c" }] }] })).toEqual([
    "/input/children/0/children/0/nam unknown_field",
  ]);
});

test("a model of Replicate has its version and the order of its fields", () => {
  const model = replicate("draw", documents.REPLICATE_DRAW);
  expect(model).toMatchObject({ model: "replicate:acme/draw", version: "5c7d5dc6", title: "draw" });
  expect(model.order).toEqual(["prompt", "image", "aspect_ratio", "extra", "webhook"]);
  expect(mediaOf(model)).toEqual({ input: ["/image image", "/extra/* file"], output: ["/* file"] });
  expect(issuesOf(model, { prompt: "a", image: null, aspect_ratio: "16:9" })).toEqual([]);
  expect(issuesOf(model, { prompt: "a", aspect_ratio: "2:1" })).toEqual(["/input/aspect_ratio unknown_value"]);
});

test("a result of Replicate can be a URL, a list, parts of a text or an object", () => {
  expect(mediaOf(replicate("upscale", documents.REPLICATE_UPSCALE)).output).toEqual([" file"]);
  const chat = replicate("chat", documents.REPLICATE_CHAT);
  expect(mediaOf(chat).output).toEqual([]);
  expect(chat.output).toMatchObject({ "x-cog-array-display": "concatenate" });
  expect(mediaOf(replicate("separate", documents.REPLICATE_SEPARATE)).output).toEqual([
    "/vocals audio",
    "/drums audio",
  ]);
});

const edit = (change: (document: any) => void): string => {
  const document = structuredClone(documents.IMAGE_EDIT) as any;
  change(document.components.schemas);
  return fal("edit", document).hash;
};

test("texts, examples and order do not change the hash", () => {
  const hash = edit(() => {});
  const reverse = (fields: object) => Object.fromEntries(Object.entries(fields).toReversed());
  const same = [
    edit(({ Input }) => Object.assign(Input.properties.prompt, { description: "new", title: "new", example: "new" })),
    edit(({ Input }) => Object.assign(Input, { "x-fal-order-properties": ["seed"] })),
    edit(({ Input }) =>
      Object.assign(Input, { properties: reverse(Input.properties), required: ["image_urls", "prompt"] }),
    ),
    edit((schemas) => Object.assign(schemas.Style, { enum: ["ink", "none"] })),
  ];
  expect(same).toEqual(same.map(() => hash));
});

test("a bound, a value, a field or the form of the result changes the hash", () => {
  const hashes = [
    edit(() => {}),
    edit(({ Input }) => Object.assign(Input.properties.image_urls, { maxItems: 5 })),
    edit(({ Style }) => Style.enum.push("oil")),
    edit(({ Input }) => Object.assign(Input.properties, { title: { type: "string" } })),
    edit(({ Input }) => Object.assign(Input.properties.style, { default: "ink" })),
    edit(({ Output }) => Object.assign(Output.properties, { nsfw: { type: "boolean" } })),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});

test("a document that is not of the model is refused with a reason", () => {
  const other = documents.TEXT_TO_VIDEO;
  expect(refusalOf("fal", "acme/other", other)).toBe("The document is of acme/text-to-video, not of acme/other.");
  expect(refusalOf("replicate", "acme/other", documents.REPLICATE_DRAW)).toBe(
    "The document is of acme/draw, not of acme/other.",
  );
  expect(refusalOf("fal", "acme/a", {})).toMatch("no operation that submits");
  expect(refusalOf("fal", "acme/a", { paths: { "/acme/a": { get: {} } } })).toMatch("no operation that submits");
  expect(refusalOf("fal", "acme/a", { paths: { "/acme/a": { post: {} } } })).toMatch("no JSON body");
  expect(refusalOf("replicate", "acme/a", { owner: "acme", name: "a", latest_version: null })).toMatch("no version");
  expect(refusalOf("replicate", "acme/a", { owner: "acme", name: "a", latest_version: { id: "1" } })).toMatch(
    "OpenAPI",
  );
  expect(refusalOf("comfyui", "acme/a", {})).toBe(
    "Models of comfyui cannot be imported. Documents of fal, replicate and sandbox can.",
  );
  expect(refusalOf("fal", "../a", other)).toBe("../a is no path of a model.");
});

test("no JSON makes an import fail otherwise than by a reason", () => {
  for (const document of [
    null,
    5,
    "x",
    [],
    [[]],
    { paths: [] },
    { paths: { a: null } },
    { info: 5, paths: { a: { post: 1 } } },
  ]) {
    expect(refusalOf("fal", "acme/a", document)).toBeTypeOf("string");
    expect(refusalOf("replicate", "acme/a", document)).toBeTypeOf("string");
  }
  const wrong = {
    type: 5,
    properties: [],
    items: "x",
    required: { a: 1 },
    enum: {},
    $ref: 7,
    allOf: {},
    anyOf: [],
    minimum: "1",
  };
  for (const [keyword, value] of Object.entries(wrong)) {
    const reason = refusalOf("fal", "acme/a", falDocument("acme/a", { properties: { field: { [keyword]: value } } }));
    expect(reason, keyword).toMatch(/^The input cannot be used\. The (schema|document) has /);
  }
  expect(refusalOf("replicate", "acme/a", replicateModel("acme/a", { type: "string" }))).toMatch("not an object");
});
