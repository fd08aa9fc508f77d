// Fake Luma Dream Machine: generations with three states to call back about, and a list of requests. It accepts URLs
// only, and fetches those on this machine.
import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { z } from "zod";
import {
  type FakeVendorDefinition,
  type FakeVendorServices,
  startFakeVendor,
  type VendorContext,
  type VendorJob,
  type VendorJobState,
} from "./fake-vendor.ts";
import { createTestVideo, drawTestImage, sizeOfRatio } from "./result-files.ts";

const KEY = "luma-fake";
const ROOT = "/dream-machine/v1";

const ratio = z.enum(["1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"]);
const address = z.url({ protocol: /^https?$/ });
const whole = z.int().optional();
const Reframe = z.strictObject({
  generation_type: z.literal("reframe_image"),
  model: z.enum(["photon-1", "photon-flash-1"]),
  media: z.strictObject({ url: address }),
  aspect_ratio: ratio,
  prompt: z.string().optional(),
  grid_position_x: whole,
  grid_position_y: whole,
  x_start: whole,
  x_end: whole,
  y_start: whole,
  y_end: whole,
  resized_width: whole,
  resized_height: whole,
  format: z.enum(["jpg", "png"]).optional(),
  callback_url: address.optional(),
});
const Image = z.strictObject({
  generation_type: z.literal("image").optional(),
  model: z.enum(["photon-1", "photon-flash-1"]),
  prompt: z.string().optional(),
  aspect_ratio: ratio.optional(),
  format: z.enum(["jpg", "png"]).optional(),
  callback_url: address.optional(),
});
const Video = z.strictObject({
  generation_type: z.literal("video").optional(),
  model: z.enum(["ray-2", "ray-flash-2"]),
  prompt: z.string().optional(),
  keyframes: z
    .strictObject({ frame0: z.strictObject({ type: z.literal("image"), url: address }).optional() })
    .optional(),
  aspect_ratio: ratio.optional(),
  duration: z.enum(["5s", "9s"]).optional(),
  resolution: z.enum(["540p", "720p", "1080p", "4k"]).optional(),
  loop: z.boolean().optional(),
  callback_url: address.optional(),
});
const SHAPES: Record<string, z.ZodObject> = { "image/reframe": Reframe, image: Image, video: Video };

type Asked = {
  generation_type?: string;
  prompt?: string;
  aspect_ratio?: string;
  format?: "jpg" | "png";
  callback_url?: string;
  media?: { url: string };
  keyframes?: { frame0?: { url: string } };
};

/** Whether the image is available. Other hosts are trusted without a request: nothing leaves this machine. */
async function isFetchable(url: string): Promise<boolean> {
  const { protocol, hostname } = new URL(url);
  if (hostname !== "127.0.0.1" && hostname !== "localhost") return protocol === "https:";
  const response = await fetch(url).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok ?? false;
}

async function make({ id, model, request }: VendorJob): Promise<[bytes: Uint8Array, mediaType: string]> {
  if (model.startsWith("ray")) return [await createTestVideo(), "video/mp4"];
  const { prompt, aspect_ratio = "16:9", format = "jpg" } = request as Asked;
  const kind = format === "jpg" ? "jpeg" : "png";
  return [await drawTestImage(`${prompt} ${id}`, ...sizeOfRatio(aspect_ratio), kind), `image/${kind}`];
}

const STATES: Record<VendorJobState, string> = {
  queued: "queued",
  running: "dreaming",
  done: "completed",
  failed: "failed",
  moderated: "failed",
  canceled: "failed",
};
const REASONS: Partial<Record<VendorJobState, string>> = {
  failed: "Something went wrong",
  moderated: "Frame contents were not accepted by moderation",
};

/** A generation as in responses, lists and callbacks. Its file is created once. */
function createReport(services: FakeVendorServices) {
  const files = new Map<string, Promise<string>>();
  const fileOf = (job: VendorJob) => {
    const file = files.get(job.id) ?? make(job).then(([bytes, mediaType]) => services.storeFile(bytes, mediaType));
    files.set(job.id, file);
    return file;
  };
  return async (job: VendorJob, standing = services.stateOf(job)) => {
    const isVideo = job.model.startsWith("ray");
    const file = standing === "done" ? await fileOf(job) : undefined;
    return {
      id: job.id,
      generation_type: isVideo ? "video" : "image",
      state: STATES[standing],
      failure_reason: REASONS[standing] ?? null,
      created_at: new Date(job.acceptedAt).toISOString(),
      assets: file ? { video: isVideo ? file : null, image: isVideo ? null : file, progress_video: null } : null,
      model: job.model,
      request: job.request,
    };
  };
}

type LumaDependencies = { services: FakeVendorServices; report: ReturnType<typeof createReport> };

async function acceptRequest(
  context: VendorContext,
  { services, report }: LumaDependencies,
  shape: z.ZodObject,
): Promise<Response> {
  const refuse = (detail: unknown, status: 400 | 404 | 422) => context.json({ detail }, status);
  const body = (await context.req.json().catch(() => undefined)) as { model?: string } | undefined;
  if (services.switches.retired.includes(body?.model ?? "")) return refuse("Model not found", 404);
  const parsed = shape.safeParse(body);
  if (!parsed.success) {
    services.recordInvalidRequest(`${context.req.path}: ${z.prettifyError(parsed.error)}`);
    const detail = parsed.error.issues.map(({ path, message }) => ({ loc: ["body", ...path], msg: message }));
    return refuse(detail, 422);
  }
  const request = parsed.data as Record<string, unknown>;
  const input = request as Asked;
  const source = input.media?.url ?? input.keyframes?.frame0?.url;
  if (source && !(await isFetchable(source))) {
    services.recordInvalidRequest(`${context.req.path}: cannot fetch ${source}`);
    return refuse("Failed to download the media", 400);
  }
  if (input.prompt?.includes("forbidden")) return refuse("Prompt did not pass moderation", 400);
  const id = randomUUID();
  const pending = services.acceptJob(context, { id, model: String(request.model), request }, (status) => ({
    detail: `Error ${status}`,
  }));
  // A job is in the ledger as soon as it is submitted: it calls back even when the response is lost.
  const job = services.find(id);
  if (job && input.callback_url) {
    services.sendCallback(job, input.callback_url, async (standing) => ({
      body: JSON.stringify(await report(job, standing)),
      headers: { "content-type": "application/json" },
    }));
  }
  const taken = await pending;
  return taken instanceof Response ? taken : context.json(await report(taken, "queued"), 201);
}

export const fakeLuma: FakeVendorDefinition = {
  id: "luma",
  start: () =>
    startFakeVendor((services) => {
      const app = new Hono<{ Bindings: HttpBindings }>().basePath(ROOT);
      const report = createReport(services);
      const deleted = new Set<string>();
      const live = (id: string) => (deleted.has(id) ? undefined : services.find(id));

      app.use("*", async (context, next) => {
        if (context.req.header("authorization") === `Bearer ${KEY}`) return next();
        return context.json({ detail: "Not authenticated" }, 403);
      });
      app.get("/ping", (context) => context.json({ message: "pong" }));
      app.get("/credits", (context) => context.json({ credit_balance: 1250 }));
      for (const [path, shape] of Object.entries(SHAPES)) {
        app.post(`/generations/${path}`, (context) => acceptRequest(context, { services, report }, shape));
      }
      app.get("/generations", async (context) => {
        const limit = Math.min(100, Number(context.req.query("limit") ?? 10));
        const offset = Number(context.req.query("offset") ?? 0);
        const all = services.jobs().filter(({ id }) => live(id));
        const generations = await Promise.all(
          all
            .toReversed()
            .slice(offset, offset + limit)
            .map((job) => report(job)),
        );
        return context.json({ generations, count: all.length, limit, offset, has_more: offset + limit < all.length });
      });
      app.get("/generations/:id", async (context) => {
        const job = live(context.req.param("id"));
        return job ? context.json(await report(job)) : context.json({ detail: "Generation not found" }, 404);
      });
      app.delete("/generations/:id", (context) => {
        const job = live(context.req.param("id"));
        if (!job) return context.json({ detail: "Generation not found" }, 404);
        services.cancel(job);
        deleted.add(job.id);
        return context.body(null, 204);
      });
      return app as unknown as Hono<{ Bindings: HttpBindings }>;
    }),
  env: (fakeVendor) => ({ LUMA_API_KEY: KEY, LUMA_BASE_URL: `${fakeVendor.url}${ROOT}` }),
};
