// Which type of a vendor's own package describes which request and which response. Black Forest Labs, Ideogram and
// ComfyUI publish no package with their types.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Schema, TypeReference } from "./type-schemas.ts";

type ReadType = (reference: TypeReference) => Schema;
/** A type by name, or a schema made of several. `match`: what the path says. */
type TypeOf = TypeReference | ((read: ReadType, match: Record<string, string>) => Schema);

export type Contract = {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** The end of the path. */
  path: RegExp;
  request?: TypeOf;
  response?: TypeOf;
};
export type VendorContracts = { package: string; contracts: Contract[] };

/** The folder of an installed package. */
export function findPackage(name: string): string {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    const found = join(folder, name);
    if (isFolderOf(found, name)) return found;
  }
  throw new Error(`${name} is not installed`);
}

function isFolderOf(folder: string, name: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name === name;
  } catch {
    return false;
  }
}

const typeIn =
  (file: string) =>
  (name: string, ...path: string[]): TypeReference => ({ file, name, path });

const images = typeIn("resources/images.d.ts");
const responses = typeIn("resources/responses/responses.d.ts");

const openai: Contract[] = [
  {
    method: "POST",
    path: /\/(v1|deployments\/[\w.-]+)\/images\/generations$/,
    request: images("ImageGenerateParamsNonStreaming"),
    response: images("ImagesResponse"),
  },
  {
    method: "POST",
    path: /\/(v1|deployments\/[\w.-]+)\/images\/edits$/,
    request: images("ImageEditParamsNonStreaming"),
    response: images("ImagesResponse"),
  },
  {
    method: "POST",
    path: /\/(v1|openai)\/responses$/,
    request: responses("ResponseCreateParamsNonStreaming"),
    // The client adds a text of its own to the response.
    response: (read) => withoutField(read(responses("Response")), "output_text"),
  },
  {
    method: "GET",
    path: /\/v1\/models$/,
    response: (read) => pageOf("data", read(typeIn("resources/models.d.ts")("Model"))),
  },
];

const google = typeIn("dist/genai.d.ts");

/** The body of the HTTP API. The client's own function has other arguments, of which it makes this body. */
const generateContent = (read: ReadType): Schema => {
  const config = read(google("GenerateContentConfig"));
  const contents = read(google("Content"));
  const generationConfig = read(google("GenerationConfig"));
  const safetySettings = read(google("SafetySetting"));
  return closed(
    {
      contents: { type: "array", items: contents },
      systemInstruction: contents,
      // The client sends the configuration of images with the rest.
      generationConfig: {
        ...generationConfig,
        properties: { ...generationConfig.properties, imageConfig: config.properties.imageConfig },
      },
      safetySettings: { type: "array", items: safetySettings },
    },
    ["contents"],
    [config, contents, generationConfig, safetySettings],
  );
};

const gemini: Contract[] = [
  {
    method: "POST",
    path: /\/(v1beta|publishers\/google)\/models\/[\w.-]+:generateContent$/,
    request: generateContent,
    response: google("GenerateContentResponse"),
  },
  {
    method: "POST",
    path: /\/v1beta\/interactions$/,
    request: google("interactions.CreateModelInteraction"),
    response: google("interactions.Interaction"),
  },
  { method: "GET", path: /\/v1beta\/interactions\/[\w-]+$/, response: google("interactions.Interaction") },
];

const runwayType = (resource: string) => typeIn(`resources/${resource}.d.ts`);
const runway: Contract[] = [
  {
    method: "POST",
    path: /\/v1\/text_to_image$/,
    request: runwayType("text-to-image")("TextToImageCreateParams"),
    response: runwayType("text-to-image")("TextToImageCreateResponse"),
  },
  {
    method: "POST",
    path: /\/v1\/image_to_video$/,
    request: runwayType("image-to-video")("ImageToVideoCreateParams"),
    response: runwayType("image-to-video")("ImageToVideoCreateResponse"),
  },
  { method: "GET", path: /\/v1\/tasks\/[\w-]+$/, response: runwayType("tasks")("TaskRetrieveResponse") },
  {
    method: "POST",
    path: /\/v1\/uploads$/,
    request: runwayType("uploads")("UploadCreateEphemeralParams"),
    response: runwayType("uploads")("UploadCreateEphemeralResponse"),
  },
  {
    method: "GET",
    path: /\/v1\/organization$/,
    response: runwayType("organization")("OrganizationRetrieveResponse"),
  },
];

const generation = typeIn("resources/generations/generations.d.ts");
const luma: Contract[] = [
  {
    method: "POST",
    path: /\/generations\/image\/reframe$/,
    request: typeIn("resources/generations/image.d.ts")("ImageReframeParams"),
    response: generation("Generation"),
  },
  {
    method: "POST",
    path: /\/generations\/video$/,
    request: typeIn("resources/generations/video.d.ts")("VideoCreateParams"),
    response: generation("Generation"),
  },
  { method: "GET", path: /\/generations$/, response: generation("GenerationListResponse") },
  { method: "GET", path: /\/generations\/[\w-]+$/, response: generation("Generation") },
  { method: "GET", path: /\/credits$/, response: typeIn("resources/credits.d.ts")("CreditGetResponse") },
];

const replicateType = typeIn("index.d.ts");
/** The client's options without those that it keeps for itself. Inputs of models are not in the package. */
const prediction = (read: ReadType): Schema => {
  const whole = read(replicateType("Prediction"));
  const { webhook, webhook_events_filter, input } = whole.properties;
  return closed({ input, webhook, webhook_events_filter, version: { type: "string" } }, ["input"], [whole]);
};
const replicate: Contract[] = [
  { method: "POST", path: /\/predictions$/, request: prediction, response: replicateType("Prediction") },
  {
    method: "GET",
    path: /\/v1\/predictions$/,
    response: (read) => pageOf("results", read(replicateType("Prediction"))),
  },
  { method: "GET", path: /\/v1\/predictions\/\w+$/, response: replicateType("Prediction") },
  { method: "GET", path: /\/v1\/models\/[\w.-]+\/[\w.-]+$/, response: replicateType("Model") },
  { method: "POST", path: /\/v1\/files$/, response: replicateType("FileObject") },
];

const falQueue = typeIn("src/types/common.d.ts");
/** fal documents these endpoints, and its package does not have them. */
const UNLISTED = [
  ...["fal-ai/flux-pro/v1/erase", "google/nano-banana-2.1", "google/nano-banana-2.1/edit"],
  ...["openai/gpt-image-2.5/flare/text-to-image", "openai/gpt-image-2.5/flare/edit"],
];
const falEndpoint =
  (side: "input" | "output") =>
  (read: ReadType, { endpoint = "" }: Record<string, string>) =>
    UNLISTED.includes(endpoint) ? {} : read(typeIn("src/types/endpoints.d.ts")("EndpointTypeMap", endpoint, side));
const fal: Contract[] = [
  { method: "GET", path: /\/requests\/[\w-]+\/status$/, response: falQueue("QueueStatus") },
  { method: "GET", path: /\/requests\/[\w-]+$/, response: falEndpoint("output") },
  {
    method: "POST",
    path: /^\/(?!storage\/)(?<endpoint>.+)$/,
    request: falEndpoint("input"),
    response: falQueue("InQueueQueueStatus"),
  },
];

export const CONTRACTS: Record<string, VendorContracts> = {
  fal: { package: "@fal-ai/client", contracts: fal },
  gemini: { package: "@google/genai", contracts: gemini },
  luma: { package: "lumaai", contracts: luma },
  openai: { package: "openai", contracts: openai },
  replicate: { package: "replicate", contracts: replicate },
  runway: { package: "@runwayml/sdk", contracts: runway },
};

/** An object of its own, with the definitions of the schemas in it. */
function closed(properties: Record<string, Schema>, required: string[], parts: Schema[] = []): Schema {
  const $defs = Object.assign({}, ...parts.map((part) => part.$defs));
  const bare = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, withoutDefinitions(schema)]),
  );
  return { type: "object", properties: bare, required, additionalProperties: false, $defs };
}

/** A list as the clients read it: what else is in the page is theirs to judge. */
const pageOf = (field: string, items: Schema): Schema => ({
  type: "object",
  properties: { [field]: { type: "array", items: withoutDefinitions(items) } },
  required: [field],
  $defs: items.$defs,
});

const withoutField = (schema: Schema, field: string): Schema => {
  const { [field]: _, ...properties } = schema.properties;
  return { ...schema, properties, required: schema.required.filter((name: string) => name !== field) };
};

function withoutDefinitions(schema: Schema): Schema {
  const { $defs: _, items, ...rest } = schema;
  return items ? { ...rest, items: withoutDefinitions(items) } : rest;
}
