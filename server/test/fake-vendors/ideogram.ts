// Fake Ideogram API: accepts forms and responds with image URLs when the work is done. A prompt that fails moderation
// is rejected at once; an image that fails it is missing from the response.
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import sharp from "sharp";
import { z } from "zod";
import { RESOLUTIONS } from "../../src/providers/ideogram/resolutions.ts";
import {
  type FakeVendorDefinition,
  type FakeVendorServices,
  startFakeVendor,
  type VendorContext,
  type VendorJob,
} from "./fake-vendor.ts";
import { drawTestImage, repaintMasked, sizeOfRatio } from "./result-files.ts";

const KEY = "ideogram-fake";
const MOST_BYTES = 10 * 1024 * 1024;

const RATIOS = ["1x3", "3x1", "1x2", "2x1", "9x16", "16x9", "10x16", "16x10", "2x3", "3x2", "3x4", "4x3", "4x5", "5x4"];
const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/)
    .refine((value) => Number(value) >= least && Number(value) <= most)
    .optional();

const image = z.instanceof(Uint8Array);
const drawing = {
  prompt: z.string().min(1),
  magic_prompt: z.enum(["AUTO", "ON", "OFF"]).optional(),
  num_images: whole(1, 8),
  seed: whole(0, 2 ** 31 - 1),
  rendering_speed: z.enum(["FLASH", "TURBO", "DEFAULT", "QUALITY"]).optional(),
  style_type: z.enum(["AUTO", "GENERAL", "REALISTIC", "DESIGN", "FICTION"]).optional(),
  character_reference_images: image.optional(),
};
const shape = {
  resolution: z.enum(RESOLUTIONS as [string]).optional(),
  aspect_ratio: z.enum(["1x1", ...RATIOS]).optional(),
  negative_prompt: z.string().optional(),
};
const Inpaint = z.strictObject({ ...drawing, image: image, mask: image });

/** Each route with its fields and its model. */
const IDEOGRAM_ENDPOINTS: Record<string, { model: string; fields: z.ZodObject }> = {
  "/v1/ideogram-v3/generate": { model: "ideogram-v3", fields: z.strictObject({ ...drawing, ...shape }) },
  "/v1/ideogram-v3/inpaint": { model: "ideogram-v3", fields: Inpaint },
  "/v1/ideogram-v3/edit": { model: "ideogram-v3", fields: Inpaint },
  "/v1/ideogram-v3/remix": {
    model: "ideogram-v3",
    fields: z.strictObject({ ...drawing, ...shape, image: image, image_weight: whole(1, 100) }),
  },
  "/v1/ideogram-v3/reframe": {
    model: "ideogram-v3",
    fields: z.strictObject({
      image: image,
      resolution: z.enum(RESOLUTIONS as [string]),
      num_images: whole(1, 8),
      seed: whole(0, 2 ** 31 - 1),
      rendering_speed: drawing.rendering_speed,
    }),
  },
  "/v1/remove-background": { model: "remove-background", fields: z.strictObject({ image: image }) },
  "/describe": {
    model: "describe",
    fields: z.strictObject({ image_file: image, describe_model_version: z.enum(["V_2", "V_3"]).optional() }),
  },
};

type Asked = {
  prompt?: string;
  seed?: string;
  num_images?: string;
  resolution?: string;
  aspect_ratio?: string;
  style_type?: string;
  image?: Uint8Array;
  mask?: Uint8Array;
  image_file?: Uint8Array;
  character_reference_images?: Uint8Array;
};

/** The form as strings and bytes; a repeated name becomes a list, which no field here accepts. */
async function readForm(context: VendorContext): Promise<Record<string, unknown>> {
  const form = await context.req.parseBody({ all: true });
  const read = async (value: unknown) => (value instanceof File ? new Uint8Array(await value.arrayBuffer()) : value);
  const fields = Object.entries(form).map(async ([name, value]) => [name, await read(value)] as const);
  return Object.fromEntries(await Promise.all(fields));
}

async function validateRequest(input: Asked): Promise<string | undefined> {
  const seen = new Map<string, string>();
  for (const [field, value] of Object.entries(input)) {
    if (!(value instanceof Uint8Array)) continue;
    const { format, width, height } = await sharp(value)
      .metadata()
      .catch(() => ({ format: "none", width: 0, height: 0 }));
    if (!["jpeg", "png", "webp"].includes(format)) return `${field}: unsupported format`;
    if (value.length > MOST_BYTES) return `${field}: larger than 10MB`;
    seen.set(field, `${width}x${height}`);
  }
  if (input.mask && seen.get("mask") !== seen.get("image")) return "mask: not of the size of the image";
  if (input.resolution && input.aspect_ratio) return "resolution cannot be used with aspect_ratio";
  const isStyled = input.character_reference_images && input.style_type;
  if (isStyled && !["AUTO", "FICTION", "REALISTIC"].includes(isStyled)) return "style_type: not with a character";
  return undefined;
}

async function make(job: VendorJob, n: number): Promise<Buffer> {
  const { image, mask, prompt, seed, resolution, aspect_ratio } = job.request as Asked;
  const text = `${prompt} ${seed ?? job.id} ${n}`;
  if (job.model === "remove-background") return sharp(image!).ensureAlpha(0.5).png().toBuffer();
  if (image && mask) return repaintMasked(image, mask, "black", text);
  const [width, height] = resolution ? resolution.split("x").map(Number) : sizeOfRatio(aspect_ratio ?? "1x1");
  return drawTestImage(text, width, height);
}

async function answerTo(job: VendorJob, services: FakeVendorServices): Promise<Record<string, unknown>> {
  const { num_images = "1", prompt = "", seed = "7", resolution = "1024x1024", style_type } = job.request as Asked;
  if (job.model === "describe") {
    return { descriptions: [{ text: "A plain image in one colour, seen from the front." }, { text: "An image." }] };
  }
  const standing = services.stateOf(job);
  const isSafe = standing !== "moderated";
  const data = Array.from({ length: Number(num_images) }, async (_, n) => ({
    url: standing === "done" ? services.storeFile(await make(job, n), "image/png") : null,
    is_image_safe: isSafe,
    ...(job.model === "ideogram-v3" && { prompt, resolution, seed: Number(seed), style_type: style_type ?? "GENERAL" }),
  }));
  return { created: new Date(job.acceptedAt).toISOString(), data: await Promise.all(data) };
}

async function acceptRequest(context: VendorContext, services: FakeVendorServices): Promise<Response> {
  const errand = IDEOGRAM_ENDPOINTS[context.req.path];
  if (!errand || services.switches.retired.includes(errand.model)) return context.json({ error: "Not found" }, 404);
  const parsed = errand.fields.safeParse(await readForm(context));
  const wrong = parsed.success ? await validateRequest(parsed.data as Asked) : z.prettifyError(parsed.error);
  if (!parsed.success || wrong) {
    services.recordInvalidRequest(`${context.req.path}: ${wrong}`);
    return context.json({ error: wrong }, 400);
  }
  const request = parsed.data as Record<string, unknown>;
  if (String(request.prompt ?? "").includes("forbidden")) {
    return context.json(
      { error: "Prompt provided failed safety check due to the inclusion of prohibited content." },
      422,
    );
  }
  const taken = await services.acceptJob(context, { model: errand.model, request }, (status) => ({
    error: `Error ${status}`,
  }));
  if (taken instanceof Response) return taken;
  await services.ended(taken);
  return context.json(await answerTo(taken, services));
}

export const fakeIdeogram: FakeVendorDefinition = {
  id: "ideogram",
  start: () =>
    startFakeVendor((services) => {
      const app = new Hono<{ Bindings: HttpBindings }>();
      const isKnown = (context: VendorContext) => context.req.header("api-key") === KEY;
      for (const path of [...Object.keys(IDEOGRAM_ENDPOINTS), "/models"]) {
        app.use(path, async (context, next) =>
          isKnown(context) ? next() : context.json({ error: "Not authorized." }, 401),
        );
      }
      for (const path of Object.keys(IDEOGRAM_ENDPOINTS)) app.post(path, (context) => acceptRequest(context, services));
      app.get("/models", (context) => context.json({ models: [] }));
      return app;
    }),
  env: (fakeVendor) => ({ IDEOGRAM_API_KEY: KEY, IDEOGRAM_BASE_URL: fakeVendor.url }),
};
