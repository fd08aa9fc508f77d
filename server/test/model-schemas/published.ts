// What fal and Replicate publish about models that no code names anywhere else.
import { falDocument, replicateModel } from "./documents.ts";

type Published = { input: object; output: object; schemas?: object };
export const publishAtFal = (path: string, { input, output, schemas = {} }: Published) =>
  falDocument(path, input as never, { output: output as never, definitions: schemas as never });
const publishAtReplicate = (path: string, version: string, { input, output }: Published) =>
  replicateModel(path, input as never, { output: output as never, version });

const file = (description: string) => ({ type: "string", description, ui: { field: description } });
export const FILE = (properties = {}) => ({
  type: "object",
  required: ["url"],
  properties: {
    url: { type: "string" },
    content_type: { type: "string" },
    file_name: { type: "string" },
    ...properties,
  },
});

/** What fal publishes about models that no test or code names anywhere else. */
export const PUBLISHED_BY_FAL: Record<string, unknown> = {
  "acme/boat-film": publishAtFal("acme/boat-film", {
    input: {
      required: ["prompt"],
      properties: {
        prompt: { type: "string", minLength: 1 },
        duration: { type: "string", enum: ["4s", "8s"], default: "8s" },
        generate_audio: { type: "boolean", default: true },
        last_frame_url: file("image"),
        sync_mode: { type: "boolean", default: false },
      },
    },
    output: { required: ["video"], properties: { video: { $ref: "#/components/schemas/Video" } } },
    schemas: { Video: FILE() },
  }),
  "acme/sketch/edit": publishAtFal("acme/sketch/edit", {
    input: {
      required: ["prompt", "image_urls"],
      properties: {
        prompt: { type: "string" },
        image_urls: { type: "array", items: { type: "string" }, maxItems: 4 },
        num_images: { type: "integer", minimum: 1, maximum: 4, default: 1 },
        elements: {
          type: "array",
          items: { type: "object", properties: { reference_image_urls: { type: "array", items: { type: "string" } } } },
        },
        note_url: { type: "string", description: "A page that is only mentioned", enum: ["https://example.com/page"] },
      },
    },
    output: {
      required: ["images"],
      properties: {
        images: { type: "array", items: { $ref: "#/components/schemas/Image" } },
        seed: { type: "integer" },
      },
    },
    schemas: { Image: FILE({ width: { type: "integer" } }) },
  }),
  "acme/voice": publishAtFal("acme/voice", {
    input: { required: ["text"], properties: { text: { type: "string" } } },
    output: { required: ["audio"], properties: { audio: { $ref: "#/components/schemas/AudioFile" } } },
    schemas: { AudioFile: FILE() },
  }),
  "acme/lips": publishAtFal("acme/lips", {
    input: {
      required: ["video_url", "audio_url"],
      properties: {
        video_url: file("video"),
        audio_url: file("audio"),
        sync_mode: { type: "string", enum: ["loop", "cut_off"] },
      },
    },
    output: { required: ["video"], properties: { video: { $ref: "#/components/schemas/Video" } } },
    schemas: { Video: FILE() },
  }),
  "acme/chair-3d": publishAtFal("acme/chair-3d", {
    input: { required: ["prompt"], properties: { prompt: { type: "string" } } },
    output: {
      required: ["model_glb"],
      properties: {
        model_glb: { $ref: "#/components/schemas/File" },
        thumbnail: { $ref: "#/components/schemas/Image" },
        weights: { $ref: "#/components/schemas/File" },
      },
    },
    schemas: { File: FILE(), Image: FILE({ width: { type: "integer" } }) },
  }),
  "acme/look": publishAtFal("acme/look", {
    input: { required: ["image_url"], properties: { image_url: file("image"), question: { type: "string" } } },
    output: { required: ["answer"], properties: { answer: { type: "string" } } },
  }),
};

/** What Replicate publishes: schemas of a version, whose result need not be an object. */
export const PUBLISHED_BY_REPLICATE: Record<string, unknown> = {
  "acme/draw": publishAtReplicate("acme/draw", "c0ffee01", {
    input: {
      required: ["prompt"],
      properties: {
        prompt: { type: "string", "x-order": 0 },
        image: { type: "string", format: "uri", "x-order": 1, nullable: true },
        steps: { type: "integer", minimum: 1, maximum: 50, default: 20, "x-order": 2 },
      },
    },
    output: { type: "array", items: { type: "string", format: "uri" } },
  }),
  "acme/speak": publishAtReplicate("acme/speak", "c0ffee02", {
    input: { required: ["prompt"], properties: { prompt: { type: "string" } } },
    output: { type: "array", items: { type: "string" }, "x-cog-array-type": "iterator" },
  }),
};
