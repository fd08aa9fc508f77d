// The models that the sandbox publishes, for runs of imported models without a key and without a network: what it says
// about them, as fal does, and the job of the sandbox that an input becomes.
import type { JsonObject } from "../../contract/schemas/run.ts";

/** The first part of a path says how a lost response is recovered, as in all names of the sandbox. */
const PATH = /^(replay|find|blind)\/(studio|clip)$/;

const FILE = { type: "string", format: "uri", ui: { field: "image" } };
const PROMPT = { type: "string", minLength: 1, maxLength: 20_000, description: "What the result shows" };
const SEED = { type: "integer", minimum: 0, description: "The same seed gives the same pixels" };
const side = (name: string) => ({ type: "integer", minimum: 64, maximum: 2048, description: `${name} in pixels` });
const fileOf = (kind: string) => ({
  type: "object",
  title: kind,
  required: ["url"],
  properties: { url: { type: "string" }, content_type: { type: "string" } },
});

type Published = { category: string; required: string[]; properties: JsonObject; output: JsonObject };

const STUDIO: Published = {
  category: "text-to-image",
  required: ["prompt"],
  properties: {
    prompt: PROMPT,
    image_urls: { type: "array", items: FILE, maxItems: 4, description: "Images to edit. Default: none" },
    width: side("Width"),
    height: side("Height"),
    num_images: { type: "integer", minimum: 1, maximum: 4, default: 1, description: "Number of images" },
    seed: SEED,
  },
  output: { images: { type: "array", items: fileOf("Image") }, seed: { type: "integer" } },
};
const CLIP: Published = {
  category: "image-to-video",
  required: ["image_url"],
  properties: {
    image_url: { ...FILE, description: "The first frame" },
    prompt: { ...PROMPT, description: "What happens" },
    duration: { type: "string", enum: ["1s", "2s", "4s"], default: "2s", description: "Duration of the video" },
  },
  output: { video: fileOf("Video") },
};

/** Undefined for a path that the sandbox does not have. */
export function publishModel(path: string): JsonObject | undefined {
  const [, , name] = PATH.exec(path) ?? [];
  if (!name) return undefined;
  const { category, required, properties, output } = name === "studio" ? STUDIO : CLIP;
  const body = (schema: JsonObject) => ({ content: { "application/json": { schema } } });
  const order = Object.keys(properties);
  return {
    openapi: "3.0.4",
    info: { title: path, version: "1", "x-fal-metadata": { endpointId: path, title: `Sandbox ${name}`, category } },
    paths: {
      [`/${path}`]: {
        post: { requestBody: body({ type: "object", required, properties, "x-fal-order-properties": order }) },
      },
      [`/${path}/requests/{request_id}`]: { get: { responses: { 200: body({ type: "object", properties: output }) } } },
    },
  };
}

/** The fields of the sandbox's own job. `input` fits the schema. */
export function toSandboxJob({ prompt, width, height, seed, num_images, duration, image_urls, image_url }: JsonObject) {
  const isClip = image_url !== undefined;
  const hasImages = Array.isArray(image_urls) && image_urls.length > 0;
  return {
    task: isClip ? "video.generate" : hasImages ? "image.edit" : "image.generate",
    ...{ prompt, width, height, seed, count: num_images },
    ...(isClip && { options: { duration: Number.parseInt(String(duration ?? "2s"), 10) } }),
  };
}

/** The result as the schema announces it. */
export const toModelResult = (outputs: readonly { url: string; media_type?: string | undefined }[]): JsonObject => {
  const files = outputs.map(({ url, media_type }) => ({ url, ...(media_type && { content_type: media_type }) }));
  return files[0]?.content_type?.startsWith("video/") ? { video: files[0] } : { images: files };
};
