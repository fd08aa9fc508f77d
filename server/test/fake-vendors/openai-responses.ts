// The Responses API of the fake OpenAI: text in the requested format, at once or in the background.
import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import sharp from "sharp";
import { z } from "zod";
import type { FakeVendorServices, VendorJob, VendorJobState } from "./fake-vendor.ts";
import { errorBody, errorBodyFor, isForbidden, unknownModel } from "./openai-errors.ts";
import { instanceOfSchema, type JsonSchema } from "./structured-output.ts";

const Text = z.strictObject({ type: z.literal("input_text"), text: z.string().min(1) });
const Image = z.strictObject({
  type: z.literal("input_image"),
  image_url: z.string().regex(/^(https:\/\/|data:image\/(png|jpeg|webp);base64,)/),
  detail: z.enum(["low", "high", "auto", "original"]).optional(),
});
const Message = z.strictObject({
  role: z.enum(["user", "developer", "system"]),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [Text, Image])).min(1)]),
});
const Schema = z.looseObject({ type: z.string() });
const Format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    schema: Schema,
    strict: z.boolean().optional(),
  }),
]);
const Ask = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(Message).min(1)]),
  instructions: z.string().optional(),
  text: z.strictObject({ format: Format }).optional(),
  store: z.boolean().default(true),
  background: z.boolean().default(false),
  metadata: z.record(z.string(), z.string()).optional(),
  max_output_tokens: z.int().optional(),
});
type Asked = z.output<typeof Ask>;
/** Requirements of strict structured outputs: no optional and no additional properties. */
const isStrict = ({ type, properties = {}, required = [], items, additionalProperties }: JsonSchema): boolean => {
  if (type === "array") return items !== undefined && isStrict(items);
  if (type !== "object") return true;
  const isWhole = Object.keys(properties).every((name) => required.includes(name));
  return isWhole && additionalProperties === false && Object.values(properties).every(isStrict);
};

/** The user's text, and the size of each image: an unreadable image is detected. */
async function describeInput({ input }: Asked): Promise<string> {
  if (typeof input === "string") return input;
  const parts = input.flatMap(({ content }): z.output<typeof Text | typeof Image>[] =>
    typeof content === "string" ? [{ type: "input_text", text: content }] : content,
  );
  const text = parts.map(async (part) => {
    if ("text" in part) return part.text;
    if (!part.image_url.startsWith("data:")) return "an image elsewhere";
    const { width, height } = await sharp(Buffer.from(part.image_url.split(",")[1]!, "base64")).metadata();
    return `an image of ${width}x${height}`;
  });
  return (await Promise.all(text)).join(" ");
}

function renderResponse(job: VendorJob, standing: VendorJobState) {
  const { said: text, format } = job.request as { said: string; format?: z.output<typeof Format> };
  const words =
    format?.type === "json_schema" ? JSON.stringify(instanceOfSchema(format.schema as JsonSchema, text)) : text;
  const isRefused = standing === "moderated" || isForbidden(text);
  const content = isRefused
    ? { type: "refusal", refusal: "I'm sorry, but I can't help with that." }
    : { type: "output_text", text: words, annotations: [] };
  const message = { type: "message", id: `msg_${job.id}`, status: "completed", role: "assistant", content: [content] };
  const status = { queued: "queued", running: "in_progress", failed: "failed", canceled: "cancelled" }[
    standing as "queued"
  ];
  return {
    id: job.id,
    object: "response",
    access_programs: null,
    created_at: Math.floor(job.acceptedAt / 1000),
    status: status ?? "completed",
    model: job.model,
    output: status ? [] : [message],
    error: status === "failed" ? { code: "server_error", message: "The model failed." } : null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
  };
}

export function responsesRoutes(services: FakeVendorServices, models: string[]) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const missing = (id: string) => errorBody({ message: `Response with id '${id}' not found.` });

  app.post("/responses", async (context) => {
    const parsed = Ask.safeParse(await context.req.json());
    const schema = parsed.data?.text?.format.type === "json_schema" ? parsed.data.text.format : undefined;
    const message = parsed.success
      ? schema?.strict && !isStrict(schema.schema as JsonSchema) && "Invalid schema for response_format."
      : parsed.error.issues[0]!.message;
    if (message || !parsed.success) {
      services.recordInvalidRequest(`/responses: ${message}`);
      return context.json(errorBody({ message: String(message), code: "invalid_value" }), 400);
    }
    const input = parsed.data;
    const unknown = unknownModel(services, input.model, models);
    if (unknown) return context.json(unknown.refusal, unknown.status);
    const { instructions, store, background } = input;
    const request = { said: await describeInput(input), format: input.text?.format, instructions, store, background };
    const job = await services.acceptJob(
      context,
      { id: `resp_${randomUUID()}`, model: input.model, request },
      errorBodyFor,
    );
    if (job instanceof Response) return job;
    if (!background) await services.ended(job);
    return context.json(renderResponse(job, services.stateOf(job)));
  });
  app.get("/responses/:id", (context) => {
    const job = services.find(context.req.param("id"));
    if (!job?.request.store) return context.json(missing(context.req.param("id")), 404);
    return context.json(renderResponse(job, services.stateOf(job)));
  });
  app.post("/responses/:id/cancel", (context) => {
    const job = services.find(context.req.param("id"));
    if (!job?.request.store) return context.json(missing(context.req.param("id")), 404);
    if (!job.request.background) return context.json(errorBody({ message: "Only background responses." }), 400);
    services.cancel(job);
    return context.json(renderResponse(job, services.stateOf(job)));
  });
  return app;
}
