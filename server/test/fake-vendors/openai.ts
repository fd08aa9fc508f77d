// Fake OpenAI API: images and edits with synchronous responses, and the Responses API for text. Under `/compatible` is
// a compatible API, which returns image URLs.
import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import sharp from "sharp";
import { z } from "zod";
import {
  type FakeVendorDefinition,
  type FakeVendorServices,
  startFakeVendor,
  type VendorContext,
  type VendorJob,
} from "./fake-vendor.ts";
import {
  errorBody,
  errorBodyFor,
  GENERATION_FAILED_BODY,
  isForbidden,
  type Rejection,
  rejection,
  unknownModel,
} from "./openai-errors.ts";
import { responsesRoutes } from "./openai-responses.ts";
import { drawTestImage, type Format, repaintMasked } from "./result-files.ts";

const KEY = "sk-fake";
const ORGANIZATION = "org-fake";
const IMAGE_MODELS = [
  "gpt-image-2.5-flare",
  "gpt-image-2.5-sunburst",
  "gpt-image-2",
  "gpt-image-1.5",
  "gpt-image-1-mini",
];
const TEXT_MODELS = ["gpt-5.6-luna", "gpt-6-astra"];
const THREE_SIZES = ["1024x1024", "1536x1024", "1024x1536"];

const wholeNumber = z.coerce.number().int();
const Common = {
  model: z.string(),
  prompt: z.string().min(1).max(32_000),
  n: wholeNumber.min(1).max(10).default(1),
  size: z.string().default("auto"),
  quality: z.enum(["low", "medium", "high", "xhigh", "max", "auto"]).default("auto"),
  background: z.enum(["transparent", "opaque", "auto"]).default("auto"),
  output_format: z.enum(["png", "jpeg", "webp"]).default("png"),
  output_compression: wholeNumber.min(0).max(100).optional(),
  safety_identifier: z.string().optional(),
};
const Generation = z.strictObject({ ...Common, moderation: z.enum(["auto", "low"]).optional() });
const Edit = z.strictObject({ ...Common, input_fidelity: z.enum(["low", "high"]).optional() });
type Asked = z.output<typeof Generation>;

function read<Shape>(schema: z.ZodType<Shape>, body: unknown): Shape | Rejection {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  if (issue.code === "unrecognized_keys") {
    const param = issue.keys[0]!;
    return rejection({ message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" });
  }
  return rejection({ message: issue.message, param: issue.path.join("."), code: "invalid_value" });
}

function wrongSize({ model, size, quality }: Pick<Asked, "model" | "size" | "quality">): Rejection | undefined {
  const wrong = (why: string) =>
    rejection({ message: `Invalid size '${size}'. ${why}`, param: "size", code: "invalid_value" });
  if (!model.includes("-2.5") && ["xhigh", "max"].includes(quality)) {
    return rejection({ message: "Invalid quality.", param: "quality", code: "invalid_value" });
  }
  if (size === "auto" || THREE_SIZES.includes(size)) return undefined;
  if (model.startsWith("gpt-image-1")) return wrong("Supported values are: '1024x1024', '1024x1536', '1536x1024'.");
  const [width = 0, height = 0] = /^\d+x\d+$/.test(size) ? size.split("x").map(Number) : [];
  if (!width || !height || width % 16 || height % 16) return wrong("Width and height must both be divisible by 16.");
  if (Math.max(width, height) > 3840) return wrong("The longest edge must be at most 3840.");
  if (Math.max(width, height) > 3 * Math.min(width, height)) return wrong("The ratio must be between 1:3 and 3:1.");
  const isWithin = width * height >= 655_360 && width * height <= 8_294_400;
  return isWithin ? undefined : wrong("The number of pixels is not supported.");
}

type Files = { images: Uint8Array[]; mask: Uint8Array | undefined };

async function readForm(form: FormData): Promise<{ fields: Record<string, unknown>; files: Files } | Rejection> {
  const [single, several] = [form.getAll("image"), form.getAll("image[]")];
  const uploads = [...single, ...several].filter((each) => each instanceof File);
  const wrong = (message: string, param = "image") => rejection({ message, param, code: "invalid_value" });
  if (single.length > 1 || (single.length > 0 && several.length > 0)) return wrong("Duplicate parameter: 'image'.");
  if (uploads.length === 0 || uploads.length > 16) return wrong("Give 1 to 16 images.");
  if (uploads.some(({ type, size }) => !/^image\/(png|jpeg|webp)$/.test(type) || size >= 50 * 1024 * 1024))
    return wrong("Unsupported image.");
  const images = await Promise.all(uploads.map(async (file) => new Uint8Array(await file.arrayBuffer())));
  const given = form.get("mask");
  const mask = given instanceof File ? new Uint8Array(await given.arrayBuffer()) : undefined;
  const complaintAboutMask = mask && (await wrongMask(mask, images[0]!));
  if (complaintAboutMask) return wrong(complaintAboutMask, "mask");
  const names = [...form.keys()].filter((name) => !["image", "image[]", "mask"].includes(name));
  return { fields: Object.fromEntries(names.map((name) => [name, form.get(name)])), files: { images, mask } };
}

async function wrongMask(mask: Uint8Array, image: Uint8Array): Promise<string | undefined> {
  const [own, first] = [await sharp(mask).metadata(), await sharp(image).metadata()];
  if (own.format !== "png" || mask.length >= 4 * 1024 * 1024) return "The mask must be a PNG of less than 4 MB.";
  if (!own.hasAlpha) return "Invalid mask image format - mask image missing alpha channel.";
  if (own.width !== first.width || own.height !== first.height) return "Invalid mask image size.";
  return (await sharp(mask).stats()).isOpaque ? "The mask has no transparent part." : undefined;
}

const sizeOf = (size: string): [number, number] => {
  const [width = 0, height = 0] = size === "auto" ? [64, 64] : size.split("x").map(Number);
  return [width, height];
};

/** The fake counts four characters and a square of 32 pixels as a token. */
function usageOf({ prompt, size, n }: Asked, files?: Files) {
  const [width, height] = sizeOf(size);
  const text_tokens = Math.ceil(prompt.length / 4);
  const image_tokens = (files?.images.length ?? 0) * 1024;
  const output_tokens = n * Math.ceil((width * height) / 1024);
  const input_tokens = text_tokens + image_tokens;
  const input_tokens_details = { text_tokens, image_tokens };
  return { input_tokens, input_tokens_details, output_tokens, total_tokens: input_tokens + output_tokens };
}

async function paint(input: Asked, index: number, files?: Files): Promise<Buffer> {
  const format: Format = input.output_format;
  const text = index === 0 ? input.prompt : `${input.prompt} ${index}`;
  const [width, height] = sizeOf(input.size);
  if (!files?.mask) return drawTestImage(text, width, height, format);
  const painted = sharp(await repaintMasked(files.images[0]!, files.mask, "transparent", text));
  if (input.size !== "auto") painted.resize({ width, height, fit: "fill", kernel: "nearest" });
  return painted.toFormat(format).toBuffer();
}

function imageRoutes(
  services: FakeVendorServices,
  responses: "bytes" | "addresses",
  modelOf: (name: string) => string = (name) => name,
) {
  const app = new Hono<{ Bindings: HttpBindings }>();

  const make = async (context: VendorContext, input: Asked | Rejection, files?: Files): Promise<Response> => {
    const wrong = "refusal" in input ? input : (unknownModel(services, input.model, IMAGE_MODELS) ?? wrongSize(input));
    if (wrong) {
      if (wrong.status !== 404) services.recordInvalidRequest(wrong.refusal.error.message);
      return context.json(wrong.refusal, wrong.status);
    }
    const { model, ...request } = input as Asked;
    const noted = { ...request, ...(files && { images: files.images.length, mask: Boolean(files.mask) }) };
    const job = await services.acceptJob(context, { model, request: noted }, errorBodyFor);
    return job instanceof Response ? job : result(context, job, input as Asked, files);
  };

  const result = async (context: VendorContext, job: VendorJob, input: Asked, files?: Files) => {
    await services.ended(job);
    const standing = services.stateOf(job);
    if (standing === "moderated" || isForbidden(input.prompt)) {
      const details = { moderation_details: { moderation_stage: "input", categories: ["violence"] } };
      const message = "Your request was rejected by the safety system.";
      const { error } = errorBody({ message, type: "image_generation_user_error", code: "moderation_blocked" });
      return context.json({ error: { ...error, ...details } }, 400);
    }
    if (standing !== "done") return context.json(GENERATION_FAILED_BODY, 500);
    const made = await Promise.all(Array.from({ length: input.n }, (_, index) => paint(input, index, files)));
    for (const bytes of made) services.recordResult(bytes);
    const { output_format, size } = input;
    const data = made.map((bytes) =>
      responses === "bytes"
        ? { b64_json: bytes.toString("base64") }
        : { url: services.storeFile(bytes, `image/${output_format}`) },
    );
    const about = responses === "bytes" ? { background: "opaque", output_format, quality: "low", size } : {};
    const usage = responses === "bytes" ? { usage: usageOf(input, files) } : {};
    return context.json({ created: Math.floor(Date.now() / 1000), data, ...about, ...usage });
  };

  const deployed = (input: Asked | Rejection) =>
    "refusal" in input ? input : { ...input, model: modelOf(input.model) };
  app.post("/images/generations", async (context) =>
    make(context, deployed(read(Generation, await context.req.json()))),
  );
  app.post("/images/edits", async (context) => {
    const form = await readForm(await context.req.formData());
    return "refusal" in form ? make(context, form) : make(context, deployed(read(Edit, form.fields)), form.files);
  });
  return app;
}

const AZURE_VERSION = "2025-04-01-preview";
/** The resource has one deployment with a name of its own. */
const AZURE_DEPLOYMENTS: Record<string, string> = { "our-flare": "gpt-image-2.5-flare" };

/** Azure OpenAI: the key in another header, a version in every query, and image models by their deployment. */
function azureRoutes(services: FakeVendorServices) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const refusal = (code: string, message: string) => ({ error: { code, message } });
  app.use(async (context, next) => {
    if (context.req.header("authorization") !== undefined || context.req.header("api-key") !== KEY) {
      return context.json(refusal("401", "Access denied due to invalid subscription key."), 401);
    }
    if (context.req.query("api-version") !== AZURE_VERSION) {
      return context.json(refusal("404", "Resource not found"), 404);
    }
    return next();
  });
  app.get("/models", (context) =>
    context.json({ object: "list", data: IMAGE_MODELS.map((id) => ({ id, object: "model", created_at: 1 })) }),
  );
  const deployed = new Hono<{ Bindings: HttpBindings }>();
  deployed.use(async (context, next) => {
    const name = context.req.param("deployment")!;
    const model = AZURE_DEPLOYMENTS[name] ?? name;
    if (!IMAGE_MODELS.includes(model)) {
      return context.json(refusal("DeploymentNotFound", "The API deployment for this resource does not exist."), 404);
    }
    return next();
  });
  deployed.route(
    "/",
    imageRoutes(services, "bytes", (name) => AZURE_DEPLOYMENTS[name] ?? name),
  );
  app.route("/deployments/:deployment", deployed);
  app.route("/", responsesRoutes(services, TEXT_MODELS));
  return app;
}

function routes(services: FakeVendorServices) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const guarded = new Hono<{ Bindings: HttpBindings }>();
  guarded.use(async (context, next) => {
    context.header("x-request-id", `req_${randomUUID()}`);
    const organization = context.req.header("openai-organization") ?? ORGANIZATION;
    if (organization !== ORGANIZATION) {
      return context.json(errorBody({ message: "No such organization.", code: "mismatched_organization" }), 401);
    }
    if (context.req.header("authorization") === `Bearer ${KEY}`) return next();
    return context.json(errorBody({ message: "Incorrect API key provided.", code: "invalid_api_key" }), 401);
  });
  guarded.get("/models", (context) => {
    const known = [...IMAGE_MODELS, ...TEXT_MODELS].filter((id) => !services.switches.retired.includes(id));
    const data = known.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "system" }));
    return context.json({ object: "list", data });
  });
  guarded.route("/", imageRoutes(services, "bytes"));
  guarded.route("/", responsesRoutes(services, TEXT_MODELS));
  app.route("/v1", guarded);
  app.route("/azure/openai", azureRoutes(services));
  app.route("/compatible/v1", imageRoutes(services, "addresses"));
  return app;
}

/** The same models as deployments of a resource of Azure. */
export const fakeAzureOpenai: FakeVendorDefinition = {
  id: "openai",
  start: () => startFakeVendor(routes),
  env: ({ url }) => ({
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${url}/azure/openai`,
    OPENAI_AZURE_API_VERSION: AZURE_VERSION,
  }),
};

export const fakeOpenai: FakeVendorDefinition = {
  id: "openai",
  start: () => startFakeVendor(routes),
  env: ({ url }) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
};
