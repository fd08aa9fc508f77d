// Fake Black Forest Labs API: jobs by model, each polled at its own URL, which is only returned without a webhook.
import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import sharp from "sharp";
import { z } from "zod";
import {
  type FakeVendor,
  type FakeVendorDefinition,
  type FakeVendorServices,
  startFakeVendor,
  type VendorContext,
  type VendorJob,
} from "./fake-vendor.ts";
import { drawTestImage, repaintMasked, sizeOfRatio } from "./result-files.ts";

const KEY = "bfl_fake";

const image = z.base64();
const everyModel = {
  seed: z.int().optional(),
  prompt_upsampling: z.boolean().optional(),
  safety_tolerance: z.int().min(0).max(6).optional(),
  output_format: z.enum(["jpeg", "png"]).optional(),
  webhook_url: z.url().max(2083).optional(),
  webhook_secret: z.string().optional(),
};
const side = z.int().min(256).max(1440).multipleOf(32).optional();
const ratio = z.string().refine(
  (text) => {
    const [across = 0, down = 0] = /^\d+:\d+$/.test(text) ? text.split(":").map(Number) : [];
    return across / down <= 21 / 9 && across / down >= 9 / 21;
  },
  { error: "Aspect ratio must be between 21:9 and 9:21" },
);

const Kontext = z.strictObject({
  prompt: z.string(),
  input_image: image.optional(),
  input_image_2: image.optional(),
  input_image_3: image.optional(),
  input_image_4: image.optional(),
  aspect_ratio: ratio.optional(),
  ...everyModel,
});
const MODELS: Record<string, z.ZodObject> = {
  "flux-dev": z.strictObject({
    prompt: z.string(),
    width: side,
    height: side,
    steps: z.int().min(1).max(50).optional(),
    guidance: z.number().min(1.5).max(5).optional(),
    ...everyModel,
  }),
  "flux-kontext-max": Kontext,
  "flux-kontext-pro": Kontext,
  "flux-pro-1.0-fill": z.strictObject({
    image: image,
    mask: image.optional(),
    prompt: z.string().optional(),
    steps: z.int().min(15).max(50).optional(),
    guidance: z.number().min(1.5).max(100).optional(),
    ...everyModel,
  }),
  "flux-tools/erase-v1": z.strictObject({
    image: image,
    mask: image,
    dilate_pixels: z.int().min(0).max(25).optional(),
    ...everyModel,
  }),
};

/** How many jobs may be under way: of all models, and of those that have a bound of their own. */
const AT_ONCE = 24;
const AT_ONCE_OF: Record<string, number> = { "flux-kontext-max": 6 };

type Asked = {
  prompt?: string;
  seed?: number;
  width?: number;
  height?: number;
  aspect_ratio?: string;
  input_image?: string;
  image?: string;
  mask?: string;
  output_format?: "jpeg" | "png";
  webhook_url?: string;
  webhook_secret?: string;
};

const bytesOf = (base64: string) => Buffer.from(base64, "base64");
const validationError = (field: string, msg: string) => ({
  detail: [{ type: "value_error", loc: ["body", field], msg }],
});

/** What is wrong with the images of a request, in the messages of the vendor. */
async function validateImage(input: Record<string, unknown>): Promise<ReturnType<typeof validationError> | undefined> {
  const sizes = new Map<string, string>();
  for (const [field, value] of Object.entries(input)) {
    if (!/^(image|mask|input_image)/.test(field)) continue;
    const seen = await sharp(bytesOf(String(value)))
      .metadata()
      .catch(() => undefined);
    if (!seen) return validationError(field, "Invalid image");
    sizes.set(field, `${seen.width}x${seen.height}`);
  }
  const isAligned = !sizes.has("mask") || sizes.get("mask") === sizes.get("image");
  return isAligned ? undefined : validationError("mask", "Mask must have the same dimensions as the image");
}

async function make({ model, id, request }: VendorJob): Promise<{ bytes: Buffer; mediaType: string }> {
  const input = request as Asked;
  const text = `${model} ${input.prompt} ${input.seed ?? id}`;
  if (input.image && input.mask) {
    return {
      bytes: await repaintMasked(bytesOf(input.image), bytesOf(input.mask), "white", text),
      mediaType: "image/png",
    };
  }
  const format = input.output_format ?? "jpeg";
  const source = input.input_image && !input.aspect_ratio && (await sharp(bytesOf(input.input_image)).metadata());
  const [width, height] = source ? [source.width, source.height] : sizeOfRatio(input.aspect_ratio ?? "1:1");
  return {
    bytes: await drawTestImage(text, input.width ?? width, input.height ?? height, format),
    mediaType: `image/${format}`,
  };
}

const isForbidden = ({ request }: VendorJob) => String(request.prompt ?? "").includes("forbidden");

/** The response of `get_result` and the webhook about a job. The file is created once, on first use. */
function createReport(services: FakeVendorServices): (job: VendorJob) => Promise<Record<string, unknown>> {
  const samples = new Map<string, Promise<string>>();
  const sampleOf = (job: VendorJob) => {
    const sample =
      samples.get(job.id) ?? make(job).then(({ bytes, mediaType }) => services.storeFile(bytes, mediaType));
    samples.set(job.id, sample);
    return sample;
  };
  return async (job) => {
    const blank = { id: job.id, result: null, progress: null, details: null, preview: null };
    const reasons = { details: { "Moderation Reasons": ["Derivative Works Filter"] } };
    if (isForbidden(job)) return { ...blank, status: "Request Moderated", ...reasons };
    const standing = services.stateOf(job);
    if (standing === "queued") return { ...blank, status: "Pending" };
    if (standing === "running") return { ...blank, status: "Pending", progress: 0.5 };
    if (standing === "moderated") return { ...blank, status: "Content Moderated", ...reasons };
    if (standing !== "done") return { ...blank, status: "Error", details: { error: "Generation failed" } };
    const { prompt, seed = 7 } = job.request as Asked;
    const times = { start_time: job.acceptedAt / 1000, end_time: job.endsAt / 1000 };
    const duration = (job.endsAt - job.acceptedAt) / 1000;
    return { ...blank, status: "Ready", result: { sample: await sampleOf(job), prompt, seed, ...times, duration } };
  };
}

/** `pollingOrigin` is the origin of polling URLs, if it is not the fake vendor itself. */
export async function startFakeBfl({ pollingOrigin }: { pollingOrigin?: string } = {}): Promise<FakeVendor> {
  return startFakeVendor((services) => {
    const app = new Hono<{ Bindings: HttpBindings }>();
    const report = createReport(services);
    const isKnown = (context: VendorContext) => context.req.header("x-key") === KEY;

    app.use("/v1/*", async (context, next) => {
      if (!isKnown(context)) return context.json({ detail: "Not authenticated" }, 403);
      return next();
    });
    app.get("/openapi.json", (context) => {
      const live = Object.keys(MODELS).filter((model) => !services.switches.retired.includes(model));
      return context.json({ openapi: "3.1.0", paths: Object.fromEntries(live.map((model) => [`/v1/${model}`, {}])) });
    });
    app.get("/v1/credits", (context) => context.json({ credits: 1234.5 }));
    app.get("/v1/get_result", async (context) => {
      const id = context.req.query("id");
      if (!id) return context.json(validationError("id", "Field required"), 422);
      const job = services.find(id);
      return context.json(job ? await report(job) : { id, status: "Task not found", result: null, progress: null });
    });
    app.post("/v1/:model{.+}", (context) => acceptRequest(context, { services, report, pollingOrigin }));
    return app;
  });
}

type BflDependencies = {
  services: FakeVendorServices;
  report: ReturnType<typeof createReport>;
  pollingOrigin: string | undefined;
};

async function acceptRequest(context: VendorContext, dependencies: BflDependencies): Promise<Response> {
  const { services } = dependencies;
  const model = context.req.param("model") ?? "";
  const schema = MODELS[model];
  if (!schema || services.switches.retired.includes(model)) return context.json({ detail: "Not Found" }, 404);
  const parsed = schema.safeParse(await context.req.json().catch(() => undefined));
  if (!parsed.success) {
    services.recordInvalidRequest(`${model}: ${z.prettifyError(parsed.error)}`);
    const detail = parsed.error.issues.map(({ path, message, code }) => ({
      type: code,
      loc: ["body", ...path],
      msg: message,
    }));
    return context.json({ detail }, 422);
  }
  const request = parsed.data as Record<string, unknown>;
  const wrong = await validateImage(request);
  if (wrong) {
    services.recordInvalidRequest(`${model}: ${JSON.stringify(wrong)}`);
    return context.json(wrong, 422);
  }
  const open = services.jobs().filter((job) => ["queued", "running"].includes(services.stateOf(job)));
  const ofModel = open.filter((job) => job.model === model).length;
  if (open.length >= AT_ONCE || ofModel >= (AT_ONCE_OF[model] ?? AT_ONCE)) {
    return context.json({ detail: "Too many active tasks" }, 429);
  }
  const id = randomUUID();
  const pending = services.acceptJob(context, { id, model, request }, (status) => ({ detail: `Error ${status}` }));
  // A job is in the ledger as soon as it is submitted: it calls back even when the response is lost.
  const job = services.find(id);
  if (job) scheduleCallback(job, dependencies);
  const taken = await pending;
  return taken instanceof Response ? taken : context.json(renderAcceptedJob(taken, dependencies));
}

function scheduleCallback(job: VendorJob, { services, report }: BflDependencies): void {
  const { webhook_url, webhook_secret } = job.request as Asked;
  if (!webhook_url) return;
  services.sendCallback(job, webhook_url, async (standing) => {
    if (standing === "queued" || standing === "running") return undefined;
    return {
      body: JSON.stringify({ ...(await report(job)), timestamp: new Date().toISOString() }),
      headers: { "content-type": "application/json", ...(webhook_secret && { "x-webhook-secret": webhook_secret }) },
      forged: { "x-webhook-secret": "somebody-else" },
    };
  });
}

function renderAcceptedJob(job: VendorJob, { services, pollingOrigin }: BflDependencies): Record<string, unknown> {
  const { webhook_url } = job.request as Asked;
  const price = { cost: 4, input_mp: 0, output_mp: 1 };
  if (webhook_url) return { id: job.id, status: "Pending", webhook_url, ...price };
  return { id: job.id, polling_url: `${pollingOrigin ?? services.url()}/v1/get_result?id=${job.id}`, ...price };
}

export const fakeBfl: FakeVendorDefinition = {
  id: "bfl",
  start: () => startFakeBfl(),
  env: (fakeVendor) => ({ BFL_API_KEY: KEY, BFL_BASE_URL: fakeVendor.url }),
};
