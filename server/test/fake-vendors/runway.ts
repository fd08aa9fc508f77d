// Fake Runway API: tasks that are polled, strict bodies under a version header, and uploads to a storage that must not
// see the key.
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
import { createTestVideo, drawTestImage, sizeOfRatio } from "./result-files.ts";

const KEY = "key_stand_in";
const VERSION = "2024-11-06";
const DATA_URI_MOST = 5 * 1024 * 1024;
/** As many of its tasks as this account may have running at a time. */
const CONCURRENT = 2;

const uri = z
  .string()
  .regex(/^(data:image\/(png|jpeg|webp);base64,|https:\/\/[^/\d]|runway:\/\/)/)
  .max(DATA_URI_MOST);
const text = (most: number) => z.string().min(1).max(most);
const seed = z.int().min(0).max(4294967295).optional();
const moderation = z.strictObject({ publicFigureThreshold: z.enum(["auto", "low"]).optional() }).optional();
const reference = z.strictObject({
  uri,
  tag: z
    .string()
    .regex(/^[A-Za-z]\w{2,15}$/)
    .optional(),
});
const VIDEO = ["1280:720", "720:1280", "1104:832", "832:1104", "960:960", "1584:672"];
const GEN4 = [
  ...["1024:1024", "1080:1080", "1168:880", "1360:768", "1440:1080", "1080:1440", "1808:768", "1920:1080"],
  ...["1080:1920", "2112:912", "1280:720", "720:1280", "720:720", "960:720", "720:960", "1680:720"],
];
const GPT = [
  ...["2048:880", "1920:1088", "1920:1280", "1920:1440", "1920:1536", "1920:1920", "1536:1920", "1440:1920"],
  ...["1280:1920", "1088:1920", "2560:1440", "1440:2560", "2560:2560", "auto"],
];
const still = z.union([uri, z.array(z.strictObject({ uri, position: z.literal("first") })).length(1)]);

const gptImage = (model: string, qualities: string[]) =>
  z.strictObject({
    model: z.literal(model),
    promptText: text(32_000),
    ratio: z.enum(GPT),
    background: z.enum(["opaque", "auto"]).optional(),
    outputCount: z.int().min(1).max(10).optional(),
    quality: z.enum(qualities).optional(),
    referenceImages: z.array(reference).max(16).optional(),
  });
const veo = (model: string) =>
  z.strictObject({
    model: z.literal(model),
    promptImage: still,
    promptText: text(1000).optional(),
    negativePrompt: text(1000).optional(),
    ratio: z.enum(["1280:720", "720:1280", "1080:1920", "1920:1080"]),
    duration: z.literal([4, 6, 8]).optional(),
    audio: z.boolean().optional(),
    seed,
  });

const ROUTES: Record<string, Record<string, z.ZodType<Record<string, unknown>>>> = {
  text_to_image: {
    gen4_image: z.strictObject({
      model: z.literal("gen4_image"),
      promptText: text(1000),
      ratio: z.enum(GEN4),
      referenceImages: z.array(reference).max(3).optional(),
      contentModeration: moderation,
      seed,
    }),
    gen4_image_turbo: z.strictObject({
      model: z.literal("gen4_image_turbo"),
      promptText: text(1000),
      ratio: z.enum(GEN4),
      referenceImages: z.array(reference).min(1).max(3),
      contentModeration: moderation,
      seed,
    }),
    gpt_image_2: gptImage("gpt_image_2", ["low", "medium", "high", "auto"]),
    gpt_image_2_5_flare: gptImage("gpt_image_2_5_flare", ["low", "medium", "high", "xhigh", "max"]),
  },
  image_to_video: {
    "veo3.1": veo("veo3.1"),
    "veo3.1_fast": veo("veo3.1_fast"),
    gen4_turbo: z.strictObject({
      model: z.literal("gen4_turbo"),
      promptImage: still,
      promptText: text(1000).optional(),
      ratio: z.enum(VIDEO),
      duration: z.int().min(2).max(10).optional(),
      contentModeration: moderation,
      seed,
    }),
    "gen4.5": z.strictObject({
      model: z.literal("gen4.5"),
      promptImage: still,
      promptText: text(1000),
      ratio: z.enum(VIDEO),
      duration: z.int().min(2).max(10),
      contentModeration: moderation,
      seed,
    }),
  },
};

const FAILURES: Record<string, { failure: string; failureCode: string }> = {
  failed: { failure: "An unexpected error occurred.", failureCode: "INTERNAL.BAD_OUTPUT.CODE01" },
  moderated: { failure: "The text prompt did not pass our content moderation.", failureCode: "SAFETY.INPUT.TEXT" },
  spoiled: { failure: "An asset could not be read.", failureCode: "ASSET.INVALID" },
};
const invalid = (issues: unknown[]) => ({
  error: "Validation of body failed",
  issues,
  docUrl: "https://docs.dev.runwayml.com/api",
});
const problem = (status: number) => ({ error: `Something is wrong (${status}).` });

/** Everything in a request that names an image. */
const urisOf = ({ promptImage = [], referenceImages = [] }: Record<string, unknown>): string[] =>
  [promptImage, referenceImages]
    .flat(2)
    .map((each) => (typeof each === "string" ? each : (each as { uri: string }).uri));

function createRunway(services: FakeVendorServices) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const uploads = new Map<string, Uint8Array | undefined>();
  const made = new Map<string, Promise<string[]>>();
  const spoiled = new Set<string>();
  const deleted = new Set<string>();

  const isReadable = async (each: string) => {
    const inline = /^data:[^;]+;base64,(.*)$/.exec(each)?.[1];
    const bytes = inline === undefined ? uploads.get(each) : Buffer.from(inline, "base64");
    if (each.startsWith("https:")) return true;
    return bytes
      ? sharp(bytes)
          .stats()
          .then(
            () => true,
            () => false,
          )
      : false;
  };

  const outputOf = (job: VendorJob) => {
    const { ratio, outputCount = 1, promptText, seed: number } = job.request;
    const [width, height] = sizeOfRatio(ratio === "auto" ? "1:1" : String(ratio));
    const make = async () => {
      if (job.request.duration !== undefined || "promptImage" in job.request) {
        return [services.storeFile(await createTestVideo(), "video/mp4")];
      }
      const images = Array.from({ length: Number(outputCount) }, (_, index) =>
        drawTestImage(`${promptText} ${number ?? ""} ${index}`, width, height),
      );
      return (await Promise.all(images)).map((bytes) => services.storeFile(bytes, "image/png"));
    };
    const output = made.get(job.id) ?? make();
    made.set(job.id, output);
    return output;
  };

  const isWaiting = (job: VendorJob) => {
    const others = services
      .jobs()
      .filter((each) => each !== job && each.acceptedAt <= job.acceptedAt && !deleted.has(each.id));
    return others.filter((each) => ["queued", "running"].includes(services.stateOf(each))).length >= CONCURRENT;
  };

  async function taskOf(job: VendorJob) {
    const about = { id: job.id, createdAt: new Date(job.acceptedAt).toISOString() };
    const open = { ...about, estimatedCost: { credits: 5 } };
    const standing = services.stateOf(job);
    const end = standing === "done" && spoiled.has(job.id) ? "spoiled" : standing;
    if (end === "queued") return { ...open, status: isWaiting(job) ? "THROTTLED" : "PENDING" };
    if (end === "running") return { ...open, status: "RUNNING", progress: 0.4 };
    if (end === "canceled") return { ...about, status: "CANCELLED", cost: { credits: 0 } };
    if (end === "done") return { ...about, status: "SUCCEEDED", cost: { credits: 5 }, output: await outputOf(job) };
    return { ...about, status: "FAILED", cost: { credits: 5 }, ...FAILURES[end] };
  }

  async function start(context: VendorContext, route: string) {
    const raw = (await context.req.json()) as { model?: string };
    const shape = services.switches.retired.includes(raw.model ?? "") ? undefined : ROUTES[route]?.[raw.model ?? ""];
    if (!shape)
      return context.json(invalid([{ code: "invalid_union", path: ["model"], message: "Unknown model" }]), 400);
    const parsed = shape.safeParse(raw);
    if (!parsed.success) {
      services.recordInvalidRequest(parsed.error.message);
      return context.json(invalid(parsed.error.issues), 400);
    }
    const job = await services.acceptJob(context, { model: raw.model!, request: parsed.data }, problem);
    if (job instanceof Response) return job;
    if (/forbidden/.test(String(parsed.data.promptText))) job.outcome = "moderated";
    const readable = await Promise.all(urisOf(parsed.data).map(isReadable));
    if (readable.includes(false)) spoiled.add(job.id);
    return context.json({ id: job.id, estimatedCost: { credits: 5 } });
  }

  app.use("/v1/*", async (context, next) => {
    if (context.req.header("authorization") !== `Bearer ${KEY}`) return context.json({ error: "Unauthorized" }, 401);
    if (context.req.header("x-runway-version") === VERSION) return next();
    services.recordInvalidRequest("no version");
    return context.json({ error: "The X-Runway-Version header is missing or invalid." }, 400);
  });
  app.post("/v1/text_to_image", (context) => start(context, "text_to_image"));
  app.post("/v1/image_to_video", (context) => start(context, "image_to_video"));
  app.get("/v1/tasks/:id", async (context) => {
    const job = services.find(context.req.param("id"));
    if (!job || deleted.has(job.id)) return context.json({ error: "Task not found" }, 404);
    return context.json(await taskOf(job));
  });
  app.delete("/v1/tasks/:id", (context) => {
    const job = services.find(context.req.param("id"));
    if (!job || deleted.has(job.id)) return context.json({ error: "Task not found" }, 404);
    if (["queued", "running"].includes(services.stateOf(job))) services.cancel(job);
    else deleted.add(job.id);
    return context.body(null, 204);
  });
  app.post("/v1/uploads", async (context) => {
    const input = z.strictObject({ filename: z.string().regex(/\.\w+$/), type: z.literal("ephemeral") });
    const parsed = input.safeParse(await context.req.json());
    if (!parsed.success) {
      services.recordInvalidRequest(parsed.error.message);
      return context.json(invalid(parsed.error.issues), 400);
    }
    const id = randomUUID();
    uploads.set(`runway://${id}`, undefined);
    const fields = { key: id, policy: "signed", "x-amz-signature": "by the storage" };
    return context.json({ runwayUri: `runway://${id}`, uploadUrl: `${services.url()}/storage`, fields });
  });
  app.post("/storage", async (context) => {
    const { key, policy, file } = await context.req.parseBody();
    const isOdd = context.req.header("authorization") ?? context.req.header("x-runway-version");
    const id = `runway://${key}`;
    if (isOdd || policy !== "signed" || !uploads.has(id) || !(file instanceof File)) {
      services.recordInvalidRequest("an upload that is not as the storage wants it");
      return context.body("<Error><Code>AccessDenied</Code></Error>", 403, { "content-type": "application/xml" });
    }
    uploads.set(id, new Uint8Array(await file.arrayBuffer()));
    return context.body(null, 204);
  });
  app.get("/v1/organization", (context) => {
    const names = Object.values(ROUTES)
      .flatMap((models) => Object.keys(models))
      .filter((name) => !services.switches.retired.includes(name));
    const limits = { maxConcurrentGenerations: CONCURRENT, maxDailyGenerations: 50 };
    return context.json({
      creditBalance: 1234,
      tier: { maxMonthlyCreditSpend: 10_000, models: Object.fromEntries(names.map((name) => [name, limits])) },
      usage: { models: {} },
    });
  });
  return app;
}

export const fakeRunway: FakeVendorDefinition = {
  id: "runway",
  start: () => startFakeVendor(createRunway),
  env: ({ url }) => ({ RUNWAY_API_KEY: KEY, RUNWAY_BASE_URL: url }),
};
