// Fake Replicate API: predictions of models with strict inputs, files, a list of all predictions, and callbacks signed
// with Standard Webhooks.
import { createHmac, randomBytes, randomUUID } from "node:crypto";
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
import { findInputProblems, makeResult, type PublishedModel } from "./published-models.ts";
import { REPLICATE_MODELS } from "./replicate/models.ts";
import { drawTestImage } from "./result-files.ts";

const TOKEN = "r8_stand_in";
const SECRET = `whsec_${Buffer.from("a secret of the fake vendor").toString("base64")}`;
const PAGE = 100;
const KEPT_MS = 60 * 60 * 1000;

const STATUSES: Record<VendorJobState, string> = {
  queued: "starting",
  running: "processing",
  done: "succeeded",
  failed: "failed",
  moderated: "failed",
  canceled: "canceled",
};
const ERRORS: Partial<Record<VendorJobState, string>> = {
  failed: "CUDA out of memory. Tried to allocate 2.00 GiB",
  moderated:
    "The input or output was flagged as sensitive. Please try again with different inputs. (E005) (sWeMQv1234)",
};
const DETAILS: Record<number, string> = {
  401: "You did not pass a valid authentication token",
  402: "You have insufficient credit to run this model.",
  404: "The requested resource could not be found.",
  429: "Request was throttled. Your rate limit resets in ~3s.",
};
const WEBHOOK_EVENTS = ["start", "output", "logs", "completed"] as const;

const problem = (status: number, detail = DETAILS[status] ?? "Something went wrong.", more = {}) => ({
  title: `Problem ${status}`,
  detail,
  status,
  ...more,
});

/** Https only, as everywhere; loopback URLs are accepted so that tests can listen. */
const webhook = z.url().regex(/^(https:|http:\/\/(127\.0\.0\.1|localhost)[:/])/);
const Body = z.strictObject({
  input: z.record(z.string(), z.unknown()),
  version: z.string().optional(),
  webhook: webhook.optional(),
  webhook_events_filter: z.array(z.enum(WEBHOOK_EVENTS)).optional(),
  stream: z.boolean().optional(),
});

/** Where a prediction contains the URL that it calls back. */
type WebhookMode = "always" | "alone" | "never";

function publishedModel({ switches }: FakeVendorServices, name: string): PublishedModel | undefined {
  const model = switches.published[name] as { latest_version: { openapi_schema: Record<string, any> } } | undefined;
  if (!model) return undefined;
  const document = model.latest_version.openapi_schema;
  const { Input: input, Output: output } = document.components.schemas;
  return { document, input, output };
}

function createReplicate(services: FakeVendorServices, shows: WebhookMode) {
  const outputs = new Map<string, Promise<string[]>>();
  const uploads = new Map<string, { bytes: Uint8Array; mediaType: string }>();
  const app = new Hono<{ Bindings: HttpBindings }>();

  const bytesAt = async (url: string): Promise<Uint8Array> => {
    const inline = /^data:[^;]+;base64,(.*)$/.exec(url)?.[1];
    if (inline !== undefined) return Buffer.from(inline, "base64");
    const upload = uploads.get(url.split("/").at(-1) ?? "");
    if (url.startsWith(`${services.url()}/v1/files/`))
      return upload?.bytes ?? Promise.reject(new Error("no such upload"));
    if (!/^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(url)) return drawTestImage(url);
    return new Uint8Array(await (await fetch(url)).arrayBuffer());
  };

  const publishedOutputs = new Map<string, Promise<unknown>>();
  const publishedOutput = (job: VendorJob, published: PublishedModel): Promise<unknown> => {
    const made =
      publishedOutputs.get(job.id) ?? makeResult(published, job.request.input as Record<string, unknown>, services);
    publishedOutputs.set(job.id, made);
    return made;
  };

  const outputOf = (job: VendorJob) => {
    const input = job.request.input as Record<string, unknown>;
    const files = (field: string) => Promise.all([input[field] ?? []].flat().map((url) => bytesAt(String(url))));
    const made =
      outputs.get(job.id) ??
      REPLICATE_MODELS[job.model]!.make(input, files).then((all) =>
        all.map((each) => services.storeFile(each.bytes, each.mediaType)),
      );
    outputs.set(job.id, made);
    return made;
  };

  async function predictionOf(job: VendorJob, standing = services.stateOf(job), isAlone = true) {
    const isErased = Date.now() > job.endsAt + KEPT_MS && job.outcome !== "never";
    const published = publishedModel(services, job.model);
    const made = standing === "done" && !isErased && !published ? await outputOf(job) : [];
    const output = published && standing === "done" && !isErased ? await publishedOutput(job, published) : undefined;
    const known = REPLICATE_MODELS[job.model];
    const base = `${services.url()}/v1/predictions/${job.id}`;
    const isShown = shows === "always" || (shows === "alone" && isAlone);
    return {
      id: job.id,
      model: job.model,
      version: known?.byVersion ?? "hidden",
      input: isErased ? {} : job.request.input,
      output: output ?? (made.length === 0 ? null : known?.single ? made[0] : made),
      error: ERRORS[standing] ?? null,
      logs: standing === "running" ? " 25%|██▌       | 7/28 [00:01<00:03]\n 50%|█████     | 14/28 [00:02<00:02]" : "",
      status: STATUSES[standing],
      source: "api",
      data_removed: isErased,
      metrics: {},
      created_at: new Date(job.acceptedAt).toISOString(),
      ...(isShown && job.request.webhook ? { webhook: job.request.webhook } : {}),
      urls: { get: base, cancel: `${base}/cancel` },
    };
  }

  const callBack = (job: VendorJob) => {
    const { webhook: url, webhook_events_filter: events = WEBHOOK_EVENTS } = job.request as z.output<typeof Body>;
    if (!url) return;
    services.sendCallback(job, url, async (standing) => {
      const event = standing === "running" ? "start" : "completed";
      if (!events.includes(event)) return undefined;
      const body = JSON.stringify(await predictionOf(job, standing));
      return {
        body,
        headers: signed(body, SECRET),
        forged: signed(body, `whsec_${randomBytes(24).toString("base64")}`),
      };
    });
  };

  const refuseInput = (context: VendorContext, error: z.ZodError) => {
    services.recordInvalidRequest(error.message);
    const fields = error.issues.map(({ path, message }) => ({ field: path.join("."), description: message }));
    const detail = fields.map(({ field, description }) => `- ${field}: ${description}\n`).join("");
    return context.json(problem(422, detail, { title: "Input validation failed", invalid_fields: fields }), 422);
  };

  async function predict(context: VendorContext, name: string | undefined, raw: unknown) {
    const model = name === undefined || services.switches.retired.includes(name) ? undefined : REPLICATE_MODELS[name];
    const published = publishedModel(services, name ?? "");
    if (!name || !(model || published)) return context.json(problem(404), 404);
    const parsed = Body.safeParse(raw);
    if (!parsed.success) return refuseInput(context, parsed.error);
    const problems = published ? findInputProblems(published, parsed.data.input) : [];
    if (problems.length > 0) {
      services.recordInvalidRequest(problems.join(", "));
      return context.json(problem(422, problems.join("\n"), { title: "Input validation failed" }), 422);
    }
    const input = z.object({ input: model?.input ?? z.unknown() }).safeParse({ input: parsed.data.input });
    if (!input.success) return refuseInput(context, input.error);
    const job = await services.acceptJob(context, { id: newId(), model: name, request: parsed.data }, problem);
    if (job instanceof Response) return job;
    if (/forbidden/.test(String(parsed.data.input.prompt))) job.outcome = "moderated";
    callBack(job);
    const waits = /^wait(?:=(\d+))?$/.exec(context.req.header("prefer") ?? "");
    if (waits)
      await Promise.race([services.ended(job), new Promise((done) => setTimeout(done, Number(waits[1] ?? 60) * 1000))]);
    return context.json(await predictionOf(job), 201);
  }

  app.use("/v1/*", async (context, next) => {
    if (context.req.header("authorization") === `Bearer ${TOKEN}`) return next();
    return context.json(problem(401), 401);
  });
  app.post("/v1/models/:owner/:name/predictions", async (context) => {
    const name = `${context.req.param("owner")}/${context.req.param("name")}`;
    return predict(context, REPLICATE_MODELS[name]?.byVersion ? undefined : name, await context.req.json());
  });
  app.post("/v1/predictions", async (context) => {
    const body = (await context.req.json()) as { version?: string };
    const [published] =
      Object.entries(services.switches.published as Record<string, any>).find(
        ([, { latest_version }]) => latest_version.id === body.version,
      ) ?? [];
    const [known] =
      Object.entries(REPLICATE_MODELS).find(([, { byVersion }]) => byVersion && byVersion === body.version) ?? [];
    const name = published ?? known;
    if (!name) return context.json(problem(422, "Invalid version or not permitted"), 422);
    return predict(context, name, body);
  });
  app.get("/v1/predictions", async (context) => {
    const since = Date.parse(context.req.query("created_after") ?? "1970-01-01");
    const from = Number(context.req.query("cursor") ?? 0);
    const all = services
      .jobs()
      .filter(({ acceptedAt: takenAt }) => takenAt >= since)
      .reverse();
    const results = await Promise.all(all.slice(from, from + PAGE).map((job) => predictionOf(job, undefined, false)));
    const next = new URL(context.req.url);
    next.searchParams.set("cursor", String(from + PAGE));
    return context.json({ previous: null, next: all.length > from + PAGE ? next.href : null, results });
  });
  app.get("/v1/predictions/:id", async (context) => {
    const job = services.find(context.req.param("id"));
    return job ? context.json(await predictionOf(job)) : context.json(problem(404), 404);
  });
  app.post("/v1/predictions/:id/cancel", async (context) => {
    const job = services.find(context.req.param("id"));
    if (!job) return context.json(problem(404), 404);
    services.cancel(job);
    return context.json(await predictionOf(job));
  });
  app.get("/v1/models/:owner/:name", (context) => {
    const { owner, name } = context.req.param();
    const model = services.switches.retired.includes(`${owner}/${name}`)
      ? undefined
      : REPLICATE_MODELS[`${owner}/${name}`];
    const published = services.switches.published[`${owner}/${name}`];
    if (published) return context.json(published);
    if (!model) return context.json(problem(404), 404);
    const schema = { components: { schemas: { Input: z.toJSONSchema(model.input) } } };
    const version = { created_at: "2026-01-01T00:00:00Z", cog_version: "0.16.0" };
    return context.json({
      owner,
      name,
      visibility: "public",
      is_official: !model.byVersion,
      url: `https://replicate.com/${owner}/${name}`,
      run_count: 1,
      latest_version: { ...version, id: model.byVersion ?? "hidden", openapi_schema: schema },
    });
  });
  app.post("/v1/files", async (context) => {
    const { content } = await context.req.parseBody();
    if (!(content instanceof File)) {
      services.recordInvalidRequest("an upload without content");
      return context.json(problem(400, "Missing content"), 400);
    }
    const id = randomUUID();
    uploads.set(id, { bytes: new Uint8Array(await content.arrayBuffer()), mediaType: content.type });
    const get = `${services.url()}/v1/files/${id}`;
    return context.json({ id, content_type: content.type, size: content.size, metadata: {}, urls: { get } }, 201);
  });
  app.get("/v1/webhooks/default/secret", (context) => context.json({ key: SECRET }));
  app.get("/v1/account", (context) => context.json({ type: "user", username: "fake", name: "Fake" }));
  return app;
}

const newId = () => randomBytes(16).toString("hex").slice(0, 26);

function signed(body: string, secret: string): Record<string, string> {
  const id = `msg_${randomUUID()}`;
  const time = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": time,
    "webhook-signature": `v1,${signature}`,
  };
}

export const startFakeReplicate = (shows: WebhookMode = "always") =>
  startFakeVendor((services) => createReplicate(services, shows));

export const fakeReplicate: FakeVendorDefinition = {
  id: "replicate",
  start: () => startFakeReplicate(),
  env: ({ url }) => ({ REPLICATE_API_TOKEN: TOKEN, REPLICATE_BASE_URL: `${url}/v1` }),
};
