// Generates the reference page of the models that the packages of Runway and fal publish: every model of Runway, and
// every endpoint of fal whose request an operation of the interface can fill. It says which of them have a built-in
// offer, and how to reach the others.
import type { Task } from "../../server/src/contract/operation.ts";
import { providers } from "../../server/src/providers/all.ts";
import type { Offer } from "../../server/src/providers/provider.ts";
import { findPackage } from "../../server/test/vendor-contracts/contracts.ts";
import { createTypeReader, type Schema } from "../../server/test/vendor-contracts/type-schemas.ts";
import { code, page, table } from "./markdown.ts";

const OPENING = `The image and video models that the packages \`@fal-ai/client\` and \`@runwayml/sdk\` publish, in the versions that
this version of Gesso is checked against, and how to reach each.

**Offered**: an [offer](provider-offers.md) with a price serves the operation. All other models of fal run with
their own parameters after an [import](../guide/use-any-model.md), such as \`gesso models add fal:fal-ai/veo3.1/fast\`,
under your price. Models of Runway that are not offered cannot be reached;
[decision 90](../decisions/0090-published-features-that-are-not-used.md) has the reasons.`;

const PROMPT = /^(prompt|promptText|text_prompt)$/;
const FIRST_IMAGE =
  /^(image|image_url|image_urls|images|start_image_url|first_frame_url|first_frame_image_url|imageUri|promptImage|input_image_url)$/;
const REFERENCES = /^referenceImages$/;
const MASK = /^(mask|mask_url|mask_image_url)$/;
/** Values of the operations: a model that requires one gets it with every request. */
const VALUES =
  /^(aspect_ratio|ratio|duration|seed|resolution|image_size|model|negative_prompt|num_images|upscale_factor|scale)$/;

type Endpoint = { required: string[]; all: string[]; result: "image" | "video" | undefined; path: string };

/** The operation whose request has everything that the model requires. Undefined: no operation. */
function findOperationFor({ required, all, result, path }: Endpoint): string | undefined {
  const isKnown = (name: string) => [PROMPT, FIRST_IMAGE, REFERENCES, MASK, VALUES].some((kind) => kind.test(name));
  if (result === undefined || !required.every(isKnown)) return undefined;
  const requires = (kind: RegExp) => required.some((name) => kind.test(name));
  const takes = (kind: RegExp) => all.some((name) => kind.test(name));
  if (result === "video") {
    if (requires(MASK)) return undefined;
    if (takes(PROMPT) && !requires(FIRST_IMAGE)) return "videos.generate";
    return takes(PROMPT) && requires(FIRST_IMAGE) ? "generateVideo" : undefined;
  }
  if (requires(REFERENCES)) return "images.reference";
  if (requires(MASK)) return takes(PROMPT) ? "images.edit" : "images.genRemove";
  if (/upscal|esrgan|aura-sr|clarity/.test(path)) return requires(FIRST_IMAGE) ? "images.upscale" : undefined;
  if (/rembg|background[/-]remov|remove-background|birefnet/.test(path)) return "images.removeBackground";
  if (/object-removal|eraser|erase/.test(path)) return "images.genRemove";
  if (/reframe/.test(path)) return "images.reframe";
  if (!takes(PROMPT)) return undefined;
  return requires(FIRST_IMAGE) ? "images.edit" : "images.generate";
}

type Package = { version: string; read: ReturnType<typeof createTypeReader>["read"] };

async function openPackage(name: string): Promise<Package> {
  const folder = findPackage(name);
  const { default: manifest } = await import(`${folder}/package.json`, { with: { type: "json" } });
  return { version: manifest.version, read: createTypeReader(folder).read };
}

const followIn =
  ($defs: Record<string, Schema>) =>
  (schema: Schema): Schema =>
    typeof schema.$ref === "string" ? followIn($defs)($defs[schema.$ref.slice("#/$defs/".length)] ?? {}) : schema;

const fieldsOf = (schema: Schema) => ({
  required: (schema.required ?? []) as string[],
  all: Object.keys(schema.properties ?? {}),
});

type PublishedModel = { name: string; operation: string };

export async function listFalModels(): Promise<{ version: string; models: PublishedModel[] }> {
  const { version, read } = await openPackage("@fal-ai/client");
  const map = read({ file: "src/types/endpoints.d.ts", name: "EndpointTypeMap" });
  const follow = followIn(map.$defs);
  const resultOf = (output: Schema): Endpoint["result"] => {
    const { all } = fieldsOf(output);
    if (all.includes("video") || all.includes("videos")) return "video";
    return all.includes("image") || all.includes("images") ? "image" : undefined;
  };
  const models = Object.entries<Schema>(map.properties).flatMap(([path, endpoint]) => {
    const { input, output } = follow(endpoint).properties;
    const operation = findOperationFor({ ...fieldsOf(follow(input)), result: resultOf(follow(output)), path });
    return operation ? [{ name: path, operation }] : [];
  });
  return { version, models };
}

/** By the path of the endpoint: the type of its body, and what it makes. */
const RUNWAY_ENDPOINTS: [path: string, type: string, result: "image" | "video"][] = [
  ["text-to-image", "TextToImageCreateParams", "image"],
  ["image-upscale", "ImageUpscaleCreateParams", "image"],
  ["text-to-video", "TextToVideoCreateParams", "video"],
  ["image-to-video", "ImageToVideoCreateParams", "video"],
  ["video-to-video", "VideoToVideoCreateParams", "video"],
  ["video-upscale", "VideoUpscaleCreateParams", "video"],
];

export async function listRunwayModels() {
  const { version, read } = await openPackage("@runwayml/sdk");
  const models = RUNWAY_ENDPOINTS.flatMap(([path, name, result]) => {
    const { $defs = {}, anyOf, ...only } = read({ file: `resources/${path}.d.ts`, name });
    const follow = followIn($defs);
    return ((anyOf ?? [only]) as Schema[]).map(follow).flatMap((form) => {
      const names = (follow(form.properties?.model ?? {}).enum ?? []) as string[];
      const operation = findOperationFor({ ...fieldsOf(form), result, path });
      return names.map((model) => ({ name: model, endpoint: path.replaceAll("-", "_"), operation }));
    });
  });
  return { version, models };
}

const offersOf = (provider: string): Offer[] => providers.find(({ id }) => id === provider)!.offers;
const isActive = ({ lifecycle }: Offer) => lifecycle?.state !== "retired";

/** The names of the interface under which the model has an offer. */
function namesFor(provider: string, upstreamModel: string, isForTask: (task: Task) => boolean): string {
  const own = offersOf(provider).filter((offer) => offer.upstreamModel === upstreamModel && isForTask(offer.task));
  return [...new Set(own.filter(isActive).map(({ task, model }) => `${task} ${code(model)}`))].join(", ");
}

const RUNWAY_TASKS: Record<string, Task[]> = {
  text_to_image: ["image.generate", "image.edit", "image.reference"],
  image_to_video: ["video.generate"],
};

export async function generatePublishedModels(): Promise<string> {
  const [runway, fal] = [await listRunwayModels(), await listFalModels()];
  const runwayCells = runway.models.map(({ name, endpoint, operation }) => [
    code(name),
    code(endpoint),
    operation ? code(operation) : "none: it needs a video",
    namesFor("runway", name, (task) => RUNWAY_TASKS[endpoint]?.includes(task) ?? false),
  ]);
  const names = new Set(runway.models.map(({ name }) => name));
  const byOperation = Map.groupBy(fal.models, ({ operation }) => operation);
  const sections = [...byOperation].flatMap(([operation, models]) => [
    `### ${operation}`,
    table(
      ["Endpoint", "Offered for"],
      models.map(({ name }) => [code(name), namesFor("fal", name, () => true)]),
    ),
  ]);
  return page(
    "Published models",
    OPENING,
    `## Runway\n\n\`@runwayml/sdk\` ${runway.version}: ${names.size} models of images and videos.`,
    table(["Model", "Endpoint", "Operation", "Offered for"], runwayCells),
    `## fal\n\n\`@fal-ai/client\` ${fal.version}: ${fal.models.length} endpoints that an operation can fill. Endpoints that need more,
such as a voice or a video, are left out; import them as well. fal also offers endpoints that are newer than its client.`,
    ...sections,
  );
}
