// Fake Gemini API: one request, one image, and status 200 for most failures. It returns a thought before the result,
// and reads in the prompt which image is a mask, as a model would.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { jwtVerify } from "jose";
import sharp from "sharp";
import { z } from "zod";
import {
  type FakeVendorDefinition,
  type FakeVendorServices,
  startFakeVendor,
  type VendorContext,
  type VendorJob,
} from "./fake-vendor.ts";
import { interactionRoutes } from "./gemini-interactions.ts";
import { drawTestImage, repaintMasked, sizeOfRatio } from "./result-files.ts";
import { instanceOfSchema, type JsonSchema } from "./structured-output.ts";

const KEY = "gemini-fake";
const IMAGE_MODELS = ["gemini-nano-banana-2.1", "gemini-3-pro-image"];
const TEXT_MODELS = ["gemini-3.8-flash", "gemini-3.5-flash-lite"];
const RATIOS = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9", "1:4", "4:1", "1:8", "8:1"];
const MOST_BYTES = 20 * 1024 * 1024;

const STATUS: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};
const errorBody = (code: number, message: string, details: unknown[] = []) => ({
  error: { code, message, status: STATUS[code] ?? "UNKNOWN", ...(details.length > 0 && { details }) },
});
const rpc = (type: string, more: object) => ({ "@type": `type.googleapis.com/google.rpc.${type}`, ...more });

/** Its own body for an error of this status; 429 is that of one busy minute. */
const failing = (status: number) => {
  const message = `Refused with ${status}.`;
  if (status !== 429) return errorBody(status, message);
  const violations = [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel", quotaValue: "10" }];
  return errorBody(429, "You exceeded your current quota, please check your plan and billing details.", [
    rpc("QuotaFailure", { violations }),
    rpc("RetryInfo", { retryDelay: "7s" }),
  ]);
};

const Text = z.strictObject({ text: z.string().min(1) });
const Image = z.strictObject({
  inlineData: z.strictObject({ mimeType: z.enum(["image/png", "image/jpeg", "image/webp"]), data: z.base64() }),
});
const Parts = z.array(z.union([Text, Image])).min(1);
const Ask = z.strictObject({
  contents: z.array(z.strictObject({ role: z.enum(["user", "model"]).optional(), parts: Parts })).min(1),
  systemInstruction: z.strictObject({ role: z.string().optional(), parts: z.array(Text) }).optional(),
  safetySettings: z.array(z.strictObject({ category: z.string(), threshold: z.string() })).optional(),
  generationConfig: z
    .strictObject({
      responseModalities: z.array(z.enum(["TEXT", "IMAGE"])).optional(),
      imageConfig: z
        .strictObject({ aspectRatio: z.enum(RATIOS).optional(), imageSize: z.enum(["1K", "2K", "4K"]).optional() })
        .optional(),
      responseMimeType: z.enum(["text/plain", "application/json"]).optional(),
      responseJsonSchema: z.looseObject({ type: z.string() }).optional(),
      temperature: z.number().optional(),
      maxOutputTokens: z.int().optional(),
      seed: z
        .int()
        .min(-(2 ** 31))
        .max(2 ** 31 - 1)
        .optional(),
    })
    .default({}),
});
type Asked = z.output<typeof Ask>;
type PromptContent = { said: string; images: Buffer[]; mediaTypes: string[] };

async function readPrompt({ contents }: Asked): Promise<PromptContent> {
  const parts = contents.flatMap((content) => content.parts);
  const output = parts.flatMap((part) => ("text" in part ? part.text : [])).join(" ");
  const inline = parts.flatMap((part) => ("inlineData" in part ? part.inlineData : []));
  const images = inline.map(({ data }) => Buffer.from(data, "base64"));
  const looks = await Promise.all(images.map((image) => sharp(image).metadata()));
  return { said: output, images, mediaTypes: looks.map(({ format }) => `image/${format}`) };
}

/** What is wrong with a request beyond its shape. */
function validateRequest(
  model: string,
  { generationConfig: input, contents }: Asked,
  seen: PromptContent,
): string | undefined {
  const makesImages = IMAGE_MODELS.includes(model);
  if (makesImages && input.responseJsonSchema) return "Structured outputs are not supported by this model.";
  if (!makesImages && input.responseModalities?.includes("IMAGE")) return "The model cannot answer with images.";
  if (input.responseJsonSchema && input.responseMimeType !== "application/json") return "A schema needs JSON.";
  if (seen.images.length > 14) return "At most 14 images.";
  const named = contents.flatMap(({ parts }) => parts.flatMap((part) => ("inlineData" in part ? part.inlineData : [])));
  const isMisnamed = named.some(({ mimeType }, index) => mimeType !== seen.mediaTypes[index]);
  return isMisnamed ? "Unable to process input image." : undefined;
}

/** Follows the prompt: `Image 2 is a mask for image 1: white marks …`. */
const MASK = /image (\d+) is a mask for image (\d+): (white|black) marks what is to change/i;

/** The longer side of an image, far smaller than the real one, and its tokens. */
const SIDES = { "1K": 96, "2K": 192, "4K": 384 };
const TOKENS = { "1K": 1120, "2K": 1680, "4K": 3780 };

async function paint(
  { said: output, images }: Pick<PromptContent, "said" | "images">,
  { imageConfig }: Pick<Asked["generationConfig"], "imageConfig">,
) {
  const [, mask, over, means] = MASK.exec(output) ?? [];
  if (mask && over) {
    const text = output.split("\n\n")[0]!;
    const data = await repaintMasked(images[Number(over) - 1]!, images[Number(mask) - 1]!, means as "white", text);
    return { mimeType: "image/png", data: data.toString("base64") };
  }
  const [width, height] = sizeOfRatio(imageConfig?.aspectRatio ?? "1:1", SIDES[imageConfig?.imageSize ?? "1K"]);
  return { mimeType: "image/jpeg", data: (await drawTestImage(output, width, height, "jpeg")).toString("base64") };
}

function usageOf({ generationConfig }: Asked, { said, images }: PromptContent) {
  const promptTokenCount = Math.ceil(said.length / 4) + images.length * 1120;
  const isImage = generationConfig.responseModalities?.includes("IMAGE") ?? false;
  const candidatesTokenCount = isImage ? TOKENS[generationConfig.imageConfig?.imageSize ?? "1K"] : 40;
  const modality = isImage ? "IMAGE" : "TEXT";
  return {
    ...{ promptTokenCount, candidatesTokenCount, thoughtsTokenCount: 30 },
    candidatesTokensDetails: [{ modality, tokenCount: candidatesTokenCount }],
    totalTokenCount: promptTokenCount + candidatesTokenCount + 30,
  };
}

async function answer(services: FakeVendorServices, job: VendorJob, input: Asked, seen: PromptContent) {
  const standing = services.stateOf(job);
  const about = { modelVersion: job.model, responseId: job.id, usageMetadata: usageOf(input, seen) };
  if (seen.said.includes("forbidden")) return { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, ...about };
  const makesImages = IMAGE_MODELS.includes(job.model);
  const ends = (finishReason: string, parts?: object[]) => ({
    candidates: [{ index: 0, finishReason, ...(parts && { content: { role: "model", parts } }) }],
    ...about,
  });
  if (standing === "moderated") return ends(makesImages ? "IMAGE_SAFETY" : "SAFETY");
  if (standing === "failed") return ends(makesImages ? "NO_IMAGE" : "MAX_TOKENS", [{ text: '{"description": "A' }]);
  const thought = { text: "Let me see.", thought: true };
  if (!makesImages) {
    const schema = input.generationConfig.responseJsonSchema as JsonSchema | undefined;
    const text = seen.images.length > 0 ? `${seen.images.length} images ${seen.said}`.trim() : seen.said;
    return ends("STOP", [thought, { text: schema ? JSON.stringify(instanceOfSchema(schema, text)) : text }]);
  }
  const pixels = { mimeType: "image/png", data: (await drawTestImage("a sketch", 16, 16)).toString("base64") };
  const sketch = { inlineData: pixels, thought: true };
  if (seen.said.includes("only words")) return ends("STOP", [sketch, { text: "I would rather talk about it." }]);
  const image = { inlineData: await paint(seen, input.generationConfig) };
  return ends("STOP", [thought, sketch, { text: "Here it is." }, image]);
}

const PROJECT = "gesso-test";
const ACCOUNT = `gesso@${PROJECT}.iam.gserviceaccount.com`;
const accountKeys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const VERTEX_MODELS = "/v1/projects/:project/locations/:location/publishers/google/models";

/** Vertex AI: tokens of a service account, for a statement that its key has signed, and models below a project. */
function guardVertex(app: Hono<{ Bindings: HttpBindings }>, url: () => string): void {
  const issued = new Set<string>();
  app.post("/token", async (context) => {
    const form = new URLSearchParams(await context.req.text());
    const refuse = (error_description: string) => context.json({ error: "invalid_grant", error_description }, 400);
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") return refuse("Wrong grant type.");
    const options = {
      issuer: ACCOUNT,
      audience: `${url()}/token${new URL(context.req.url).search}`,
      algorithms: ["RS256"],
      maxTokenAge: 3600,
    };
    try {
      const { payload } = await jwtVerify(form.get("assertion") ?? "", accountKeys.publicKey, options);
      if (payload.scope !== "https://www.googleapis.com/auth/cloud-platform") return refuse("Wrong scope.");
      if (payload.exp! - payload.iat! > 3600) return refuse("Token must be a short-lived token.");
    } catch {
      return refuse("Invalid JWT Signature.");
    }
    const access_token = `ya29.${randomUUID()}`;
    issued.add(access_token);
    return context.json({ access_token, expires_in: 3599, token_type: "Bearer" });
  });
  const guard = async (context: VendorContext, next: () => Promise<void>) => {
    const token = context.req.header("authorization")?.replace(/^Bearer /, "") ?? "";
    if (issued.has(token) && context.req.header("x-goog-api-key") === undefined) return next();
    return context.json(errorBody(401, "Request had invalid authentication credentials."), 401);
  };
  app.use("/v1/*", guard);
  app.use("/v1beta1/*", guard);
  app.use(`${VERTEX_MODELS}/*`, async (context, next) =>
    context.req.param("project") === PROJECT ? next() : context.json(errorBody(403, "Permission denied."), 403),
  );
}

function routes(services: FakeVendorServices) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  guardVertex(app, services.url);
  app.use("/v1beta/*", async (context, next) => {
    const key = context.req.header("x-goog-api-key");
    if (key === KEY) return next();
    if (!key) return context.json(errorBody(403, "Method doesn't allow unregistered callers."), 403);
    const info = rpc("ErrorInfo", { reason: "API_KEY_INVALID", domain: "googleapis.com" });
    return context.json(errorBody(400, "API key not valid. Please pass a valid API key.", [info]), 400);
  });
  const known = () => [...IMAGE_MODELS, ...TEXT_MODELS].filter((id) => !services.switches.retired.includes(id));
  app.get("/v1beta/models", (context) =>
    context.json({
      models: known().map((id) => ({ name: `models/${id}`, supportedGenerationMethods: ["generateContent"] })),
    }),
  );
  app.get("/v1beta1/publishers/google/models", (context) =>
    context.json({ publisherModels: known().map((id) => ({ name: `publishers/google/models/${id}` })) }),
  );
  app.route(
    "/v1beta/interactions",
    interactionRoutes(services, {
      isKnown: (model) => known().includes(model),
      errorBody: (status, message) => (message ? errorBody(status, message) : failing(status)),
      paint: (prompt, { aspectRatio, imageSize }) =>
        paint(prompt, { imageConfig: { aspectRatio: aspectRatio as "1:1" | undefined, imageSize } }),
    }),
  );

  const refuse = (context: VendorContext, message: string) => {
    services.recordInvalidRequest(message);
    return context.json(errorBody(400, message), 400);
  };
  const generateContent = async (context: VendorContext) => {
    const [model = "", method] = context.req.param("call")!.split(":");
    if (method !== "generateContent" || !known().includes(model)) {
      return context.json(errorBody(404, `models/${model} is not found for API version v1beta.`), 404);
    }
    const body = await context.req.text();
    if (body.length > MOST_BYTES) return refuse(context, "Request payload size exceeds the limit.");
    const parsed = Ask.safeParse(JSON.parse(body));
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      const name = issue.code === "unrecognized_keys" ? `Unknown name "${issue.keys[0]}"` : issue.message;
      return refuse(context, `Invalid JSON payload received. ${name} at '${issue.path.join(".")}'.`);
    }
    const input = parsed.data;
    const seen = await readPrompt(input).catch(() => undefined);
    if (!seen) return refuse(context, "Unable to process input image.");
    const wrong = validateRequest(model, input, seen);
    if (wrong) return refuse(context, wrong);
    const instruction = input.systemInstruction?.parts.map(({ text }) => text).join(" ");
    const request = { said: seen.said, images: seen.images.length, instruction, ...input.generationConfig };
    const job = await services.acceptJob(context, { id: randomUUID(), model, request }, failing);
    if (job instanceof Response) return job;
    await services.ended(job);
    return context.json(await answer(services, job, input, seen));
  };
  app.post("/v1beta/models/:call", generateContent);
  app.post(`${VERTEX_MODELS}/:call`, generateContent);
  return app;
}

/** The same API, with images in the background. */
export const fakeGeminiInteractions: FakeVendorDefinition = {
  id: "gemini",
  start: () => startFakeVendor(routes),
  env: ({ url }) => ({ GEMINI_API_KEY: KEY, GEMINI_BASE_URL: url, GEMINI_IMAGES: "interactions" }),
};

/** The JSON key of the account whose tokens the fake gives. */
export const vertexAccount = (url: string) =>
  JSON.stringify({
    ...{ type: "service_account", project_id: PROJECT, client_email: ACCOUNT, token_uri: `${url}/token` },
    private_key: accountKeys.privateKey.export({ type: "pkcs8", format: "pem" }),
  });

/** The same models at Vertex AI. */
export const fakeVertexAi: FakeVendorDefinition = {
  id: "gemini",
  start: () => startFakeVendor(routes),
  env: ({ url }) => ({
    GEMINI_API_KEY: vertexAccount(url),
    GEMINI_BASE_URL: url,
    GEMINI_VERTEX_LOCATION: "europe-west4",
  }),
};

export const fakeGemini: FakeVendorDefinition = {
  id: "gemini",
  start: () => startFakeVendor(routes),
  env: ({ url }) => ({ GEMINI_API_KEY: KEY, GEMINI_BASE_URL: url }),
};
