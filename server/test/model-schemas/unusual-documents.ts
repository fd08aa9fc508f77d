// Documents of fal and Replicate in the shapes that newer generators write: OpenAPI 3.1, unions with a discriminator,
// files as objects, open objects, and fields that only results have.
import { falDocument, replicateModel } from "./documents.ts";

type Schema = Record<string, unknown>;

const text = { type: "string" };
const uri = { type: "string", format: "uri" };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const FILE: Schema = {
  type: "object",
  title: "File",
  required: ["url"],
  properties: {
    url: { type: "string", format: "uri", examples: ["https://v3.fal.media/files/a.png"] },
    content_type: { anyOf: [text, { type: "null" }] },
    file_size: { anyOf: [{ type: "integer" }, { type: "null" }] },
  },
};

/** OpenAPI 3.1: lists of types, constants, examples as a list, words beside references. */
export const OPENAPI_31 = {
  ...falDocument(
    "acme/first-and-last-frame",
    {
      title: "FirstAndLastFrameInput",
      required: ["prompt", "first_frame_url"],
      properties: {
        prompt: { type: "string", examples: ["A boat lands"], title: "Prompt" },
        first_frame_url: { ...uri, description: "The first frame", ui: { field: "image" } },
        last_frame_url: { type: ["string", "null"], description: "URL of the last frame", default: null },
        resolution: { ...ref("Resolution"), default: "720p", description: "Height of the video" },
        ratio: { anyOf: [ref("Ratio"), { type: "null" }], default: null },
        strength: { type: ["number", "null"], exclusiveMinimum: 0, maximum: 1 },
        crop: { type: "array", prefixItems: [{ type: "integer" }, { type: "integer" }], minItems: 2, maxItems: 2 },
        api_version: { const: "2026-01" },
      },
    },
    {
      output: { required: ["video"], properties: { video: { ...ref("File"), description: "The video" } } },
      definitions: {
        File: FILE,
        Resolution: { type: "string", enum: ["720p", "1080p", "2160p"], title: "Resolution" },
        Ratio: { type: "string", enum: ["16:9", "9:16"], title: "Ratio" },
      },
    },
  ),
  openapi: "3.1.0",
};

/** A list whose elements are one of several objects, each with files of its own. */
export const DISCRIMINATED = falDocument(
  "acme/timeline",
  {
    required: ["tracks"],
    properties: {
      tracks: {
        type: "array",
        minItems: 1,
        maxItems: 8,
        items: {
          oneOf: [ref("ImageTrack"), ref("SoundTrack"), ref("TitleTrack")],
          discriminator: {
            propertyName: "kind",
            mapping: { image: "#/components/schemas/ImageTrack", sound: "#/components/schemas/SoundTrack" },
          },
        },
      },
    },
  },
  {
    output: { required: ["video_url"], properties: { video_url: text, thumbnail_url: text } },
    definitions: {
      ImageTrack: {
        type: "object",
        required: ["kind", "image_url"],
        properties: {
          kind: { type: "string", enum: ["image"] },
          image_url: uri,
          seconds: { type: "number", minimum: 0 },
        },
      },
      SoundTrack: {
        type: "object",
        required: ["kind", "audio_url"],
        properties: { kind: { type: "string", enum: ["sound"] }, audio_url: uri, volume: { type: "number" } },
      },
      TitleTrack: {
        type: "object",
        required: ["kind", "title"],
        properties: { kind: { type: "string", enum: ["title"] }, title: { type: "string", maxLength: 20 } },
      },
    },
  },
);

/** Files as objects, as texts or objects, in lists and in maps, and a field that only results have. */
export const FILES_AS_OBJECTS = falDocument(
  "acme/board",
  {
    required: ["images", "job_id"],
    properties: {
      images: { type: "array", items: ref("File"), maxItems: 3 },
      style_image: { anyOf: [uri, ref("File"), { type: "null" }], description: "A URL or a file" },
      characters: { type: "object", additionalProperties: { type: "object", properties: { portrait: ref("File") } } },
      font_file: { ...text, _fal_ui_field: "file" },
      job_id: { type: "string", readOnly: true },
    },
  },
  {
    output: { properties: { board: ref("File"), layers: { type: "array", items: { allOf: [ref("File")] } } } },
    definitions: { File: FILE },
  },
);

/** An object that takes any field, and maps whose names and values have rules. */
export const OPEN_OBJECTS = falDocument(
  "acme/workflow",
  {
    additionalProperties: true,
    required: ["prompt"],
    properties: {
      prompt: text,
      seeds: { type: "object", additionalProperties: { type: "integer", minimum: 0 } },
      labels: { type: "object", propertyNames: { pattern: "^[a-z]+$" }, additionalProperties: text },
      options: { type: "object", properties: { steps: { type: "integer", minimum: 1, maximum: 50 } } },
      anything: {},
    },
  },
  { output: {} },
);

/** The input by a reference, a field with the name input, and names of definitions that need escaping. */
export const NESTED_INPUT = replicateModel("acme/nested", ref("Body_predict"), {
  version: "a1b2c3",
  output: { anyOf: [uri, { type: "array", items: uri }] },
  definitions: {
    Body_predict: {
      type: "object",
      title: "Input",
      required: ["input"],
      properties: {
        input: { allOf: [ref("Input~1Settings[v2]")], description: "The settings", "x-order": 1 },
        image: { ...uri, nullable: true, "x-order": 0 },
      },
    },
    "Input/Settings[v2]": {
      type: "object",
      required: ["text"],
      properties: {
        text: { type: "string", minLength: 1 },
        sampler: { allOf: [ref("sampler")], default: "euler", nullable: true, description: "The sampler" },
      },
    },
    sampler: { title: "sampler", type: "string", enum: ["euler", "heun"], description: "An enumeration." },
  },
});

/** Lists of files that may be null, deprecated fields, bounds of numbers, and a result of named files. */
export const REPLICATE_REFERENCES = replicateModel(
  "acme/references",
  {
    required: ["prompt"],
    properties: {
      prompt: { type: "string", title: "Prompt", "x-order": 0 },
      reference_images: { type: "array", items: uri, nullable: true, maxItems: 4, default: null, "x-order": 1 },
      audio: { anyOf: [{ type: "array", items: uri }, uri], title: "Audio", "x-order": 2 },
      guidance: { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 20, default: 3.5, "x-order": 3 },
      megapixels: { type: "string", enum: ["0.25", "1", "4"], default: "1", deprecated: true, "x-order": 4 },
      seed: { type: "integer", nullable: true, description: "Random seed", "x-order": 5 },
    },
  },
  { output: { type: "object", required: ["image"], properties: { image: uri, depth: { ...uri, nullable: true } } } },
);

/** Fields that several objects have in common, as a class and its base, and one that needs another. */
export const INHERITED = falDocument(
  "acme/inherited",
  {
    allOf: [ref("BaseInput"), { type: "object", required: ["video_url"], properties: { video_url: text } }],
    description: "An input with the fields of its base",
    dependentRequired: { last_frame: ["first_frame"] },
  },
  {
    output: { allOf: [ref("BaseOutput"), { type: "object", properties: { video: ref("File") } }] },
    definitions: {
      File: FILE,
      BaseInput: {
        type: "object",
        required: ["prompt"],
        properties: { prompt: text, seed: { type: ["integer", "null"] }, first_frame: uri, last_frame: uri },
      },
      BaseOutput: { type: "object", required: ["seed"], properties: { seed: { type: "integer" } } },
    },
  },
);
