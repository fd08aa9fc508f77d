// fal on a socket: a queue for every endpoint of its map, storage, signed callbacks, and the list of its models.
import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import {
  type FakeVendorDefinition,
  type FakeVendorServices,
  startFakeVendor,
  type VendorContext,
  type VendorJob,
} from "./fake-vendor.ts";
import { renderFlaggedResult, renderResult } from "./fal/results.ts";
import { endpointIds, hasSafetyChecker, isKnownEndpoint, validateFalInput } from "./fal/schema.ts";
import { findInputProblems, makeResult, type PublishedModel } from "./published-models.ts";

const KEY = "fake-id:fake-secret";
const USER = "user-of-the-fake";

type Ended = { status: number; body: unknown };
type Shelf = Map<string, { bytes: Buffer; mediaType: string }>;

const appOf = (endpoint: string) => endpoint.split("/").slice(0, 2).join("/");
const detail = (type: string, msg: string) => ({ detail: [{ loc: ["body"], msg, type }] });

const routes = (services: FakeVendorServices) => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const shelf: Shelf = new Map();
  const made = new Map<string, Promise<Ended>>();
  const [own, strange] = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];

  const open = async (url: string): Promise<Buffer> => {
    if (url.startsWith("data:")) return Buffer.from(url.slice(url.indexOf(",") + 1), "base64");
    const stored = url.startsWith(`${services.url()}/stored/`) && shelf.get(url.split("/").at(-1)!);
    if (stored) return stored.bytes;
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(`${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  };
  const dependencies = { services, open };

  /** The result of a job that has ended, with the status that the model itself gave it. */
  const resultOf = (job: VendorJob): Promise<Ended> => {
    const before = made.get(job.id);
    if (before) return before;
    const result = end(job);
    made.set(job.id, result);
    return result;
  };
  const end = async (job: VendorJob): Promise<Ended> => {
    const standing = services.stateOf(job);
    if (standing === "canceled") return { status: 400, body: { detail: "Request was cancelled" } };
    if (standing === "failed") return { status: 500, body: detail("internal_server_error", "Internal server error") };
    if (standing === "moderated") {
      const isShown = hasSafetyChecker(job.model) && !job.model.startsWith("fal-ai/flux-pro");
      if (isShown) return { status: 200, body: await renderFlaggedResult(job.request, dependencies) };
      return { status: 422, body: detail("content_policy_violation", "The content could not be processed.") };
    }
    const published = publishedModel(services, job.model);
    if (published) return { status: 200, body: await makeResult(published, job.request, services) };
    try {
      const body = await renderResult(job.model, job.request, dependencies);
      return { status: 200, body: { ...body, ...(hasSafetyChecker(job.model) && { has_nsfw_concepts: [false] }) } };
    } catch (thrown) {
      return { status: 422, body: detail("file_download_error", `Failed to load a file: ${thrown}`) };
    }
  };

  openStorage(app, services, shelf);
  openCatalogue(app, services, own.publicKey);
  openJobs(app, services, resultOf);
  openQueue(app, services, { resultOf, own: own.privateKey, strange: strange.privateKey });
  return app;
};

type App = Hono<{ Bindings: HttpBindings }>;

/** Nothing without the key, spelled exactly. */
function refusal(context: VendorContext, services: FakeVendorServices): Response | undefined {
  if (context.req.header("authorization") === `Key ${KEY}`) return undefined;
  services.recordInvalidRequest(`authorization of ${context.req.path}`);
  return context.json({ detail: "Authentication is required to access this application." }, 401);
}

function openStorage(app: App, services: FakeVendorServices, shelf: Shelf) {
  app.post("/storage/upload/initiate", async (context) => {
    const refused = refusal(context, services);
    if (refused) return refused;
    const { content_type } = await context.req.json();
    const isKnown = context.req.query("storage_type") === "fal-cdn-v3" && typeof content_type === "string";
    if (!isKnown) return context.json(detail("value_error", "unknown kind of storage"), 422);
    const id = randomUUID();
    return context.json({
      upload_url: `${services.url()}/uploads/${id}?token=once`,
      file_url: `${services.url()}/stored/${id}`,
    });
  });
  app.put("/uploads/:id", async (context) => {
    if (context.req.header("authorization")) services.recordInvalidRequest("a credential was sent to the file server");
    if (context.req.query("token") !== "once") return context.text("forbidden", 403);
    const bytes = Buffer.from(await context.req.arrayBuffer());
    shelf.set(context.req.param("id"), { bytes, mediaType: context.req.header("content-type") ?? "" });
    return context.text("OK");
  });
  app.get("/stored/:id", (context) => {
    const file = shelf.get(context.req.param("id"));
    if (!file) return context.text("not found", 404);
    return context.body(new Uint8Array(file.bytes), 200, { "content-type": file.mediaType });
  });
}

/** As the schemas of a queue are published: those of the posted body, and of the result of a request. */
function publishedModel({ switches }: FakeVendorServices, endpoint: string): PublishedModel | undefined {
  const document = switches.published[endpoint] as Record<string, any> | undefined;
  if (!document) return undefined;
  const schemaOf = (at: Record<string, any>) => at.content["application/json"].schema;
  return {
    document,
    input: schemaOf(document.paths[`/${endpoint}`].post.requestBody),
    output: schemaOf(document.paths[`/${endpoint}/requests/{request_id}`].get.responses["200"]),
  };
}

function openCatalogue(app: App, services: FakeVendorServices, key: KeyObject) {
  app.get("/api/openapi/queue/openapi.json", (context) => {
    const document = services.switches.published[context.req.query("endpoint_id") ?? ""];
    return document ? context.json(document) : context.json({ detail: "Not found" }, 404);
  });
  app.get("/.well-known/jwks.json", (context) => context.json({ keys: [key.export({ format: "jwk" })] }));
  app.get("/v1/models", (context) => {
    const refused = refusal(context, services);
    if (refused) return refused;
    const input = context.req.queries("endpoint_id") ?? endpointIds();
    if (input.length > 50 && context.req.queries("endpoint_id")) return context.json({ error: "too many" }, 400);
    const known = input.filter((id) => isKnownEndpoint(id) && !services.switches.retired.includes(id));
    const models = known.map((endpoint_id) => ({ endpoint_id, metadata: { status: "active" } }));
    return context.json({ models, next_cursor: null, has_more: false });
  });
  app.get("/v1/models/pricing", (context) => {
    const refused = refusal(context, services);
    if (refused) return refused;
    const asked = context.req.query("endpoint_id")?.split(",") ?? [];
    if (asked.length === 0 || asked.length > 50) return context.json({ error: "1 to 50 endpoints" }, 400);
    const prices = asked.flatMap((endpoint_id) => {
      const { usd, unit } = services.switches.prices[endpoint_id] ?? {};
      return usd === undefined ? [] : [{ endpoint_id, unit_price: usd, unit, currency: "USD" }];
    });
    return context.json({ prices, next_cursor: null, has_more: false });
  });
}

type Queue = { resultOf(job: VendorJob): Promise<Ended>; own: KeyObject; strange: KeyObject };

function openQueue(app: App, services: FakeVendorServices, { resultOf, own, strange }: Queue) {
  app.post("/:owner/:path{.+}", async (context) => {
    const refused = refusal(context, services);
    if (refused) return refused;
    const endpoint = context.req.path.slice(1);
    const published = publishedModel(services, endpoint);
    if (!(published || isKnownEndpoint(endpoint)) || services.switches.retired.includes(endpoint)) {
      return context.json({ detail: `Application '${endpoint}' not found` }, 404);
    }
    const request = await context.req.json();
    const problems = published
      ? findInputProblems(published, request).map((msg) => ({ loc: ["body"], msg, type: "value_error" }))
      : validateFalInput(endpoint, request);
    if (request.sync_mode === true)
      problems.push({ loc: ["body", "sync_mode"], msg: "results expire", type: "value_error" });
    if (problems.length > 0) {
      services.recordInvalidRequest(`${endpoint}: ${JSON.stringify(problems)}`);
      return context.json({ detail: problems }, 422);
    }
    const id = randomUUID();
    const response = services.acceptJob(context, { id, model: endpoint, request }, (status) => ({
      detail: `status ${status}`,
    }));
    // In the ledger from now on, if accepted: it calls back even when the response is lost.
    const job = services.find(id);
    if (job && /\bforbidden\b/.test(String(request.prompt))) job.outcome = "moderated";
    const webhook = context.req.query("fal_webhook");
    if (job && webhook)
      services.sendCallback(job, webhook, (standing) => says(job, standing, { resultOf, own, strange }));
    const taken = await response;
    if (taken instanceof Response) return taken;
    return context.json({ status: "IN_QUEUE", queue_position: 0, ...addresses(services, taken) });
  });
}

const addresses = (services: FakeVendorServices, job: VendorJob) => {
  const base = `${services.url()}/${appOf(job.model)}/requests/${job.id}`;
  return { request_id: job.id, response_url: base, status_url: `${base}/status`, cancel_url: `${base}/cancel` };
};

/** It calls only when all is over. */
async function says(job: VendorJob, standing: string, { resultOf, own, strange }: Queue) {
  if (["queued", "running", "canceled"].includes(standing)) return undefined;
  const { status, body: payload } = await resultOf(job);
  const isGood = status < 300;
  const error = isGood ? {} : { error: `Invalid status code: ${status}` };
  const ids = { request_id: job.id, gateway_request_id: job.id };
  const body = JSON.stringify({ ...ids, status: isGood ? "OK" : "ERROR", ...error, payload });
  const time = String(Math.floor(Date.now() / 1000));
  const message = [job.id, USER, time, createHash("sha256").update(body).digest("hex")].join("\n");
  const signed = (key: KeyObject) => sign(null, Buffer.from(message), key).toString("hex");
  const headers = {
    "content-type": "application/json",
    "x-fal-webhook-request-id": job.id,
    "x-fal-webhook-user-id": USER,
    "x-fal-webhook-timestamp": time,
    "x-fal-webhook-signature": signed(own),
  };
  return { body, headers, forged: { "x-fal-webhook-signature": signed(strange) } };
}

/** Under the first two segments of an endpoint only. */
function openJobs(app: App, services: FakeVendorServices, resultOf: Queue["resultOf"]) {
  const base = "/:owner/:app/requests/:id";
  const jobAt = (context: VendorContext) => {
    const job = services.find(context.req.param("id")!);
    return job && appOf(job.model) === `${context.req.param("owner")}/${context.req.param("app")}` ? job : undefined;
  };
  const standingOf = (job: VendorJob) => {
    const standing = services.stateOf(job);
    const where = addresses(services, job);
    if (standing === "queued") return { status: "IN_QUEUE", queue_position: 0, ...where };
    if (standing === "running") return { status: "IN_PROGRESS", logs: [], ...where };
    const error = standing === "canceled" ? { error: "Request was cancelled", error_type: "cancelled" } : {};
    return { status: "COMPLETED", logs: [], metrics: { inference_time: 0.05 }, ...error, ...where };
  };

  app.use(`${base}/*`, async (context, next) => refusal(context, services) ?? next());
  app.get(`${base}/status/stream`, (context) => {
    const job = jobAt(context);
    if (!job) return context.json({ detail: "Request not found" }, 404);
    return streamSSE(context, async (stream) => {
      await stream.writeSSE({ data: JSON.stringify(standingOf(job)) });
      await services.ended(job);
      await stream.writeSSE({ data: JSON.stringify(standingOf(job)) });
    });
  });
  app.get(`${base}/status`, (context) => {
    const job = jobAt(context);
    if (!job) return context.json({ detail: "Request not found" }, 404);
    const output = standingOf(job);
    return context.json(output, output.status === "COMPLETED" ? 200 : 202);
  });
  app.get(base, async (context) => {
    const job = jobAt(context);
    if (!job) return context.json({ detail: "Request not found" }, 404);
    if (standingOf(job).status !== "COMPLETED") return context.json({ detail: "Request is still in progress" }, 400);
    // Dollars for models that are billed by tokens, and units of the price for others.
    const isBilledByTokens = job.model.startsWith("openai/gpt-image-2");
    const units = isBilledByTokens ? "0.0364" : String(job.request.num_images ?? 1);
    const { status, body } = await resultOf(job);
    return Response.json(body, { status, headers: { "x-fal-request-id": job.id, "x-fal-billable-units": units } });
  });
  app.put(`${base}/cancel`, (context) => {
    const job = jobAt(context);
    if (!job) return context.json({ status: "NOT_FOUND" }, 404);
    if (standingOf(job).status === "COMPLETED") return context.json({ status: "ALREADY_COMPLETED" }, 400);
    const isQueued = standingOf(job).status === "IN_QUEUE";
    services.cancel(job);
    return isQueued ? context.json({ status: "OK" }) : context.json({ status: "CANCELLATION_REQUESTED" }, 202);
  });
}

export const fakeFal: FakeVendorDefinition = {
  id: "fal",
  start: () => startFakeVendor(routes),
  env: ({ url }) => ({
    FAL_KEY: KEY,
    FAL_QUEUE_URL: url,
    FAL_REST_URL: url,
    FAL_API_URL: url,
    FAL_SCHEMA_URL: url,
    FAL_LORA_BASE_URL: "https://loras.example.com/ours",
  }),
};
