// Documents in the forms in which fal and Replicate publish the schemas of their models, with little in each.

type Schema = Record<string, unknown>;

const body = (schema: Schema) => ({ content: { "application/json": { schema } } });

/** fal's OpenAPI document of an endpoint. Definitions besides Input and Output are added. */
export const falDocument = (
  path: string,
  input: Schema,
  { output = {}, definitions = {} }: { output?: Schema; definitions?: Record<string, Schema> } = {},
): Schema => ({
  openapi: "3.0.4",
  info: {
    title: `Queue OpenAPI for ${path}`,
    version: "1.0.0",
    "x-fal-metadata": { endpointId: path, category: "image-to-image" },
  },
  components: {
    schemas: { Input: { type: "object", ...input }, Output: { type: "object", ...output }, ...definitions },
  },
  paths: {
    [`/${path}/requests/{request_id}/status`]: { get: { responses: { 200: body({ type: "object" }) } } },
    [`/${path}`]: { post: { requestBody: body({ $ref: "#/components/schemas/Input" }) } },
    [`/${path}/requests/{request_id}`]: { get: { responses: { 200: body({ $ref: "#/components/schemas/Output" }) } } },
  },
});

type ReplicateOptions = { output?: Schema; definitions?: Schema; version?: string };

/** Replicate's answer about a model with its latest version. */
export const replicateModel = (
  path: string,
  input: Schema,
  { output = { type: "string", format: "uri" }, definitions = {}, version = "5c7d5dc6" }: ReplicateOptions = {},
): Schema => ({
  owner: path.split("/")[0],
  name: path.split("/")[1],
  latest_version: {
    id: version,
    openapi_schema: {
      openapi: "3.0.2",
      components: {
        schemas: {
          Input: { type: "object", title: "Input", ...input },
          Output: { title: "Output", ...output },
          ...definitions,
        },
      },
    },
  },
});

const text = { type: "string" };
const FILE = {
  type: "object",
  required: ["url"],
  properties: { url: text, content_type: text, file_data: { type: "string", format: "binary" } },
};
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const TEXT_TO_VIDEO = falDocument(
  "acme/text-to-video",
  {
    required: ["prompt"],
    "x-fal-order-properties": ["prompt", "duration", "generate_audio", "sync_mode"],
    properties: {
      generate_audio: { type: "boolean", default: true, title: "Generate audio" },
      prompt: { type: "string", minLength: 1, maxLength: 2000, description: "What happens", example: "A boat lands" },
      duration: { type: "string", enum: ["4s", "6s", "8s"], default: "8s" },
      sync_mode: { type: "boolean", default: false },
    },
  },
  {
    output: { required: ["video"], properties: { video: { allOf: [ref("File")], title: "Video" } } },
    definitions: { File: FILE },
  },
);

export const IMAGE_EDIT = falDocument(
  "acme/edit",
  {
    required: ["prompt", "image_urls"],
    properties: {
      prompt: text,
      image_urls: { type: "array", maxItems: 4, items: { type: "string" } },
      mask: { anyOf: [{ type: "string" }, { type: "null" }], ui: { field: "image" } },
      image_size: {
        anyOf: [ref("ImageSize"), { type: "string", enum: ["auto", "square_hd"] }],
        default: { width: 512, height: 512 },
      },
      strength: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: false },
      style: { allOf: [ref("Style")], default: "none", description: "The style" },
      seed: { type: "integer", nullable: true },
      source_url: { type: "string", description: "Page that the image is from" },
    },
  },
  {
    output: { properties: { images: { type: "array", items: ref("Image") }, seed: { type: "integer" } } },
    definitions: {
      ImageSize: {
        type: "object",
        properties: { width: { type: "integer", minimum: 1, multipleOf: 8 }, height: { type: "integer", minimum: 1 } },
      },
      Style: { type: "string", enum: ["none", "ink"] },
      Image: FILE,
    },
  },
);

export const MANY_PARTS = falDocument(
  "acme/parts",
  {
    properties: {
      camera: { allOf: [ref("Position"), { type: "object", properties: { zoom: { type: "number" } } }] },
      position: ref("Position"),
      shape: {
        oneOf: [
          {
            type: "object",
            additionalProperties: false,
            required: ["kind", "radius"],
            properties: { kind: { type: "string", enum: ["circle"] }, radius: { type: "number" } },
          },
          {
            type: "object",
            additionalProperties: false,
            required: ["kind", "width"],
            properties: { kind: { type: "string", enum: ["box"] }, width: { type: "number" } },
          },
        ],
        discriminator: { propertyName: "kind" },
      },
      weights: { type: "object", additionalProperties: { type: "number" } },
      settings: { type: "object", properties: { steps: { type: "integer" } }, additionalProperties: true },
      tags: { type: "array", items: text, uniqueItems: true },
      places: { type: "array", items: ref("Position"), uniqueItems: true },
    },
  },
  { definitions: { Position: { type: "object", properties: { x: { type: "number" }, y: { type: "number" } } } } },
);

export const ELEMENTS = falDocument(
  "acme/reference-to-video",
  {
    properties: {
      elements: { type: "array", items: ref("Element") },
      voices: { type: "object", additionalProperties: { type: "string", format: "uri" } },
    },
  },
  {
    definitions: {
      Element: {
        type: "object",
        properties: { frontal_image_url: text, reference_image_urls: { type: "array", items: text }, name: text },
      },
    },
  },
);

export const TRAINER = falDocument(
  "acme/trainer",
  { properties: { images_data_url: { type: "string", description: "URL to a zip archive" }, webhook_url: text } },
  {
    output: { properties: { diffusers_lora_file: ref("File"), config_file: ref("File") } },
    definitions: { File: FILE },
  },
);

export const TEXT_TO_SPEECH = falDocument(
  "acme/speech",
  { required: ["text"], properties: { text, voice: { type: "string", default: "Rachel" }, speed: { type: "number" } } },
  { output: { properties: { audio: ref("File"), duration: { type: "number" } } }, definitions: { File: FILE } },
);

export const IMAGE_TO_3D = falDocument(
  "acme/image-to-3d",
  { properties: { input_image_url: text } },
  {
    output: {
      properties: {
        model_glb: ref("File"),
        model_urls: {
          type: "object",
          properties: { fbx: ref("File"), usdz: { allOf: [ref("File")], nullable: true } },
        },
        textures: { type: "array", items: ref("File") },
        thumbnail: ref("File"),
      },
    },
    definitions: { File: FILE },
  },
);

export const LIP_SYNC = falDocument("acme/lip-sync", {
  required: ["video_url", "audio_url"],
  properties: {
    video_url: text,
    audio_url: text,
    sync_mode: { type: "string", enum: ["cut_off", "loop"], default: "cut_off" },
  },
});

export const TREE = falDocument("acme/tree", ref("Node"), {
  definitions: {
    Node: { type: "object", properties: { name: text, children: { type: "array", items: ref("Node") } } },
  },
});

export const REPLICATE_DRAW = replicateModel(
  "acme/draw",
  {
    required: ["prompt"],
    properties: {
      aspect_ratio: { allOf: [ref("aspect_ratio")], default: "1:1", "x-order": 2, description: "Aspect ratio" },
      image: { type: "string", format: "uri", "x-order": 1, nullable: true },
      prompt: { type: "string", "x-order": 0 },
      extra: { type: "array", items: { type: "string", format: "uri" }, "x-order": 3 },
      webhook: { type: "string", format: "uri", "x-order": 4 },
    },
  },
  {
    output: { type: "array", items: { type: "string", format: "uri" } },
    definitions: { aspect_ratio: { type: "string", enum: ["1:1", "16:9"], description: "An enumeration." } },
  },
);

export const REPLICATE_UPSCALE = replicateModel("acme/upscale", {
  properties: {
    image: { type: "string", format: "uri" },
    scale: { type: "integer", minimum: 0, maximum: 10, default: 4 },
  },
});

export const REPLICATE_CHAT = replicateModel(
  "acme/chat",
  { properties: { prompt: text } },
  { output: { type: "array", items: text, "x-cog-array-type": "iterator", "x-cog-array-display": "concatenate" } },
);

export const REPLICATE_SEPARATE = replicateModel(
  "acme/separate",
  { properties: { audio: { type: "string", format: "uri" } } },
  {
    output: {
      type: "object",
      properties: {
        vocals: { type: "string", format: "uri" },
        drums: { type: "string", format: "uri", nullable: true },
      },
    },
  },
);
