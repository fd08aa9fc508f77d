// Interactions of the fake Gemini API: images in the background, read by ID, with an event to the URL of the request.
import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { z } from "zod";
import type { FakeVendorServices, VendorJob, VendorJobState } from "./fake-vendor.ts";

const Text = z.strictObject({ type: z.literal("text"), text: z.string().min(1) });
const Image = z.strictObject({
  type: z.literal("image"),
  mime_type: z.enum(["image/png", "image/jpeg", "image/webp"]),
  data: z.base64(),
});
const SIZES = ["1K", "2K", "4K"] as const;
const Request = z.strictObject({
  model: z.string(),
  input: z.array(z.discriminatedUnion("type", [Text, Image])).min(1),
  response_format: z.strictObject({
    type: z.literal("image"),
    delivery: z.enum(["inline", "uri"]).optional(),
    aspect_ratio: z.string().optional(),
    image_size: z.enum(SIZES).optional(),
  }),
  generation_config: z.strictObject({ seed: z.int().optional() }).optional(),
  background: z.boolean(),
  store: z.boolean().default(true),
  webhook_config: z.strictObject({ uris: z.array(z.url()) }).optional(),
});

export type InteractionImage = { mimeType: string; data: string };
export type InteractionModels = {
  isKnown(model: string): boolean;
  errorBody(status: number, message?: string): unknown;
  paint(
    prompt: { said: string; images: Buffer[] },
    config: { aspectRatio?: string | undefined; imageSize?: (typeof SIZES)[number] | undefined },
  ): Promise<InteractionImage>;
};

const STATUS: Record<VendorJobState, string> = {
  ...{ queued: "queued", running: "in_progress", done: "completed" },
  ...{ failed: "failed", moderated: "failed", canceled: "cancelled" },
};
const ERRORS: Partial<Record<VendorJobState, { code: string; message: string }>> = {
  failed: { code: "internal", message: "The model failed." },
  moderated: { code: "image_safety", message: "The image was withheld for safety." },
};
const TOKENS = { "1K": 1120, "2K": 1680, "4K": 3780 };

export function interactionRoutes(services: FakeVendorServices, models: InteractionModels) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const made = new Map<string, Promise<InteractionImage>>();

  const imageOf = ({ id, request }: VendorJob): Promise<InteractionImage> => {
    const { said, sources, aspect_ratio, image_size } = request as {
      said: string;
      sources: string[];
      aspect_ratio?: string;
      image_size?: (typeof SIZES)[number];
    };
    const images = sources.map((data) => Buffer.from(data, "base64"));
    const image = made.get(id) ?? models.paint({ said, images }, { aspectRatio: aspect_ratio, imageSize: image_size });
    if (!made.has(id)) void image.then(({ data }) => services.recordResult(Buffer.from(data, "base64")));
    made.set(id, image);
    return image;
  };

  const render = async (job: VendorJob) => {
    const standing = services.stateOf(job);
    const error = ERRORS[standing];
    const about = { id: job.id, model: job.model, status: STATUS[standing] };
    const open = { ...about, created: new Date(job.acceptedAt).toISOString(), ...(error && { errors: [error] }) };
    if (standing !== "done") return open;
    const { mimeType, data } = await imageOf(job);
    const output = TOKENS[(job.request.image_size as "1K" | undefined) ?? "1K"];
    const steps = [
      { type: "thought", summary: [{ type: "text", text: "Let me see." }] },
      { type: "model_output", content: [{ type: "image", mime_type: mimeType, data }] },
    ];
    const usage = {
      ...{ total_input_tokens: 20, total_output_tokens: output, total_thought_tokens: 30, total_tokens: output + 50 },
      output_tokens_by_modality: [{ modality: "image", tokens: output }],
    };
    return { ...open, steps, usage };
  };

  app.post("/", async (context) => {
    const parsed = Request.safeParse(await context.req.json());
    if (!parsed.success) {
      services.recordInvalidRequest(z.prettifyError(parsed.error));
      return context.json(models.errorBody(400, z.prettifyError(parsed.error)) as object, 400);
    }
    const { model, input, response_format, generation_config, webhook_config, background, store } = parsed.data;
    if (!models.isKnown(model)) return context.json(models.errorBody(404) as object, 404);
    const said = input.flatMap((part) => (part.type === "text" ? part.text : [])).join(" ");
    const sources = input.flatMap((part) => (part.type === "image" ? part.data : []));
    const request = { said, sources, ...response_format, ...generation_config, background, store };
    const id = `int_${randomUUID()}`;
    const pending = services.acceptJob(context, { id, model, request }, (status) => models.errorBody(status));
    const job = services.find(id);
    if (job && said.includes("forbidden")) job.outcome = "moderated";
    for (const uri of job ? (webhook_config?.uris ?? []) : []) {
      services.sendCallback(job!, uri, async (standing) =>
        ["queued", "running"].includes(standing)
          ? undefined
          : {
              body: JSON.stringify({ type: `interaction.${STATUS[standing]}`, version: "v1", data: { id } }),
              headers: { "content-type": "application/json", "webhook-id": randomUUID() },
            },
      );
    }
    const taken = await pending;
    return taken instanceof Response ? taken : context.json(await render(taken));
  });
  app.get("/:id", async (context) => {
    const job = services.find(context.req.param("id"));
    return job ? context.json(await render(job)) : context.json(models.errorBody(404) as object, 404);
  });
  app.post("/:id/cancel", async (context) => {
    const job = services.find(context.req.param("id"));
    if (!job) return context.json(models.errorBody(404) as object, 404);
    services.cancel(job);
    return context.json(await render(job));
  });
  return app;
}
