// A ComfyUI server as its own source has it: graphs are held against its nodes and files, one job runs at a time, a
// second POST under one id is a second job, and what it knows of jobs ends with the process. Three ages of its API.
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import sharp from "sharp";
import { createJobQueue, inputsOf, type JobQueue, type Sizes } from "./comfyui/job-queue.ts";
import { BUILT_IN_NODES, type ComfyuiAge, INSTALLED_FILES } from "./comfyui/nodes.ts";
import { renderHistory, renderJob, renderNodeInfo, renderQueueEntry } from "./comfyui/responses.ts";
import { type InstalledNodes, listUnknownNodes, type PromptGraph, validateGraph } from "./comfyui/validate.ts";
import { createWebSockets } from "./comfyui/websockets.ts";
import {
  type FakeVendor,
  type FakeVendorDefinition,
  type FakeVendorServices,
  startFakeVendor,
  type VendorContext,
  type VendorJob,
} from "./fake-vendor.ts";

export type ComfyuiOptions = {
  /** Default: `new`. */
  age?: ComfyuiAge;
  /** Headers that a proxy in front of the server requires. */
  token?: string;
  /** Files that this one does not have. */
  lacks?: string[];
};
/** `lines` are the clients that listen; a preview is sent to all of them. */
export type FakeComfyui = FakeVendor & { lines(): number; preview(bytes: Uint8Array): void };

type App = Hono<{ Bindings: HttpBindings }>;
type FakeComfyuiServices = Required<Pick<ComfyuiOptions, "age">> & {
  services: FakeVendorServices;
  queue: JobQueue;
  installed: InstalledNodes;
  uploads: Set<string>;
  sizes: Sizes;
};

const VERSIONS: Record<ComfyuiAge, string> = { new: "0.36.0", middle: "0.7.0", old: "0.3.64" };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const FIELDS = ["prompt", "prompt_id", "client_id", "extra_data", "number", "front", "partial_execution_targets"];

export async function startFakeComfyui(options: ComfyuiOptions = {}): Promise<FakeComfyui> {
  const { age = "new", token, lacks = [] } = options;
  const isAllowed = (authorization: string | undefined) => !token || authorization === `Bearer ${token}`;
  const lines = createWebSockets(isAllowed);
  let ledger: VendorJob[] = [];
  const sizes: Sizes = new Map();
  const queue = createJobQueue({ ledger: () => ledger, sizes, tell: lines.tell, hasStates: age !== "old" });
  const fakeVendor = await startFakeVendor((services) => {
    const uploads = new Set<string>();
    const dependencies: FakeComfyuiServices = {
      age,
      services,
      queue,
      sizes,
      uploads,
      installed: availableFiles(services, uploads, lacks),
    };
    const app: App = new Hono();
    app.use(async (context, next) => {
      lines.attach(context.env.incoming as Parameters<typeof lines.attach>[0]);
      if (context.req.path === "/hello") return context.text("");
      if (!isAllowed(context.req.header("authorization"))) {
        services.recordInvalidRequest(`no credentials at ${context.req.path}`);
        return context.text("401: Unauthorized", 401);
      }
      await next();
    });
    for (const prefix of ["/api", ""]) app.route(`${prefix}/`, routes(dependencies));
    if (age !== "old") app.route("/api/", jobRoutes(dependencies));
    // Everything else is for the files of its own pages, which can be read and not posted to.
    app.all("*", (context) => {
      if (!context.req.path.startsWith("/api/jobs")) services.recordInvalidRequest(`nothing at ${context.req.path}`);
      return context.req.method === "GET" ? context.text("404: Not Found", 404) : context.text("405", 405);
    });
    return app;
  });
  ledger = fakeVendor.ledger;
  // Websockets are accepted by the HTTP server under the web framework, which is reachable from any request.
  const hello = () => fetch(`${fakeVendor.url}/hello`);
  await hello();
  const cutting = (work: () => Promise<void>) => async () => {
    lines.cut();
    await work();
  };
  return {
    ...fakeVendor,
    forgetJobs: () => {
      fakeVendor.forgetJobs();
      queue.forget();
    },
    stopListening: cutting(fakeVendor.stopListening),
    startListening: async () => {
      await fakeVendor.startListening();
      await hello();
    },
    close: async () => {
      queue.end();
      await cutting(fakeVendor.close)();
    },
    lines: lines.count,
    preview: lines.preview,
  };
}

/** Several servers, as an operator has them. */
export const startFakePool = (count: number, options: ComfyuiOptions = {}): Promise<FakeComfyui[]> =>
  Promise.all(Array.from({ length: count }, () => startFakeComfyui(options)));

export const poolEnv = (servers: { url: string }[]) => ({ COMFYUI_URLS: servers.map(({ url }) => url).join(",") });

export const fakeComfyui: FakeVendorDefinition = {
  id: "comfyui",
  start: () => startFakeComfyui(),
  env: (fakeVendor) => poolEnv([fakeVendor]),
};

/** LoRAs of any name are there, as on a server that its owner fills; those that begin with `missing` are not. */
function availableFiles({ switches }: FakeVendorServices, uploads: Set<string>, lacks: string[]): InstalledNodes {
  const isGone = (file: string) => lacks.includes(file) || switches.retired.includes(file);
  const listed = (folder: string) => (INSTALLED_FILES[folder] ?? []).filter((file) => !isGone(file));
  return {
    listed,
    has: (folder, file) =>
      folder === "loras" ? !isGone(file) && !file.startsWith("missing") : listed(folder).includes(file),
    hasImage: (name) => uploads.has(name),
  };
}

function routes(dependencies: FakeComfyuiServices): App {
  const { age, services, queue, installed } = dependencies;
  const app: App = new Hono();
  app.post("/prompt", (context) => takePrompt(context, dependencies));
  app.get("/prompt", (context) => {
    const { running, pending } = queue.queue();
    return context.json({ exec_info: { queue_remaining: running.length + pending.length } });
  });
  app.get("/queue", (context) => {
    const { running, pending } = queue.queue();
    return context.json({ queue_running: running.map(renderQueueEntry), queue_pending: pending.map(renderQueueEntry) });
  });
  app.post("/queue", async (context) => {
    const input = (await context.req.json()) as { delete?: string[] };
    for (const id of input.delete ?? []) queue.remove(id);
    return context.body(null, 200);
  });
  app.post("/interrupt", async (context) => {
    const input = (await context.req.json().catch(() => ({}))) as { prompt_id?: string };
    // Servers without this endpoint cancel the running job.
    queue.interrupt(age === "old" ? undefined : input.prompt_id);
    return context.body(null, 200);
  });
  app.get("/history", (context) => {
    const most = Number(context.req.query("max_items") ?? queue.history.size);
    const items = [...queue.history].slice(Math.max(0, queue.history.size - most));
    return context.json(Object.fromEntries(items.map(([id, past]) => [id, renderHistory(past)])));
  });
  app.get("/history/:id", (context) => {
    const past = queue.history.get(context.req.param("id"));
    return context.json(past ? { [context.req.param("id")]: renderHistory(past) } : {});
  });
  app.post("/upload/image", (context) => takeUpload(context, dependencies));
  app.get("/view", (context) => view(context, services, queue));
  app.get("/models/:folder", (context) => {
    const files = installed.listed(context.req.param("folder"));
    return INSTALLED_FILES[context.req.param("folder")] ? context.json(files) : context.body(null, 404);
  });
  app.get("/object_info", (context) =>
    context.json(
      Object.fromEntries(Object.keys(BUILT_IN_NODES).map((name) => [name, renderNodeInfo(name, installed, age)])),
    ),
  );
  app.get("/object_info/:name", (context) => {
    const name = context.req.param("name");
    return context.json(BUILT_IN_NODES[name] ? { [name]: renderNodeInfo(name, installed, age) } : {});
  });
  app.get("/system_stats", (context) => {
    const comfyui_version = VERSIONS[age];
    const system = { os: "linux", comfyui_version, python_version: "3.12.3", argv: ["main.py"] };
    return context.json({ system, devices: [{ name: "cuda:0", type: "cuda", index: 0, vram_total: 0, vram_free: 0 }] });
  });
  return app;
}

async function takePrompt(
  context: VendorContext,
  { age, services, installed, queue }: FakeComfyuiServices,
): Promise<Response> {
  const body = (await context.req.json()) as Record<string, unknown> & { prompt?: PromptGraph; prompt_id?: unknown };
  for (const field of Object.keys(body))
    if (!FIELDS.includes(field)) services.recordInvalidRequest(`unknown field ${field}`);
  const refuse = (type: string, message: string) =>
    context.json({ error: { type, message, details: message, extra_info: {} }, node_errors: {} }, 400);
  if (!body.prompt) return refuse("no_prompt", "No prompt provided");
  const id = body.prompt_id ?? undefined;
  if (age === "new" && id !== undefined && !UUID.test(String(id))) {
    services.recordInvalidRequest(`prompt_id ${id}`);
    return refuse("invalid_prompt_id", "prompt_id must be a valid UUID");
  }
  const unknownNodes = listUnknownNodes(body.prompt);
  if (unknownNodes.length > 0) services.recordInvalidRequest(`inputs that no node has: ${unknownNodes.join(", ")}`);
  const refused = validateGraph(body.prompt, installed, age);
  if (refused) return context.json(refused, 400);
  const [model] = inputsOf(body.prompt, "UNETLoader").map(({ unet_name }) => String(unet_name));
  const job = { model: model ?? "none", request: body, ...(id !== undefined && { id: String(id) }) };
  const taken = await services.acceptJob(context, job, (status) => ({
    error: { type: "proxy", message: `${status}` },
  }));
  if (taken instanceof Response) return taken;
  const { running, pending } = queue.queue();
  const number = [...pending, ...running].find((work) => work.taken === taken)?.number ?? 0;
  return context.json({ prompt_id: taken.id, number, node_errors: {} });
}

async function takeUpload(
  context: VendorContext,
  { services, uploads, sizes }: FakeComfyuiServices,
): Promise<Response> {
  const form = await context.req.formData();
  const image = form.get("image");
  if (!(image instanceof File) || image.size === 0) return context.body(null, 400);
  const known = ["image", "subfolder", "type", "overwrite"];
  for (const name of form.keys()) if (!known.includes(name)) services.recordInvalidRequest(`unknown part ${name}`);
  const subfolder = String(form.get("subfolder") ?? "");
  if ([subfolder, image.name].some((part) => part.includes("..") || part.startsWith("/"))) {
    services.recordInvalidRequest(`a path outside of the folder: ${subfolder}/${image.name}`);
    return context.body(null, 400);
  }
  const path = subfolder ? `${subfolder}/${image.name}` : image.name;
  const isNew = form.get("overwrite") === "true" || !uploads.has(path);
  const name = isNew ? image.name : image.name.replace(/(\.\w+)?$/, " (1)$1");
  const stored = subfolder ? `${subfolder}/${name}` : name;
  uploads.add(stored);
  sizes.delete(stored);
  const bytes = Buffer.from(await image.arrayBuffer());
  await sharp(bytes)
    .metadata()
    .then(
      ({ width, height }) => sizes.set(stored, { width, height }),
      // The file is accepted all the same; loading it fails later.
      () => undefined,
    );
  return context.json({ name, subfolder, type: form.get("type") ?? "input" });
}

function view(context: VendorContext, { switches, recordResult }: FakeVendorServices, { files }: JobQueue): Response {
  const { filename = "", subfolder = "", type = "output" } = context.req.query();
  const found = files.get(`${type}/${subfolder}/${filename}`);
  if (!found || switches.result === "expired") return context.body(null, 404);
  if (switches.result === "wrong-type") return new Response("<html>Please sign in</html>");
  const headers = { "content-type": found.mediaType };
  if (switches.result === "whole") {
    recordResult(found.bytes);
    return new Response(Buffer.from(found.bytes), { headers });
  }
  const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1024 * 1024));
  return new Response(new ReadableStream({ pull }), { headers });
}

function jobRoutes({ queue, age }: FakeComfyuiServices): App {
  const app: App = new Hono();
  app.get("/jobs/:id", (context) => {
    const id = context.req.param("id");
    const past = queue.history.get(id);
    if (past) return context.json(renderJob(past, age));
    const { running, pending } = queue.queue();
    const about = { id, priority: 0, outputs_count: 0 };
    if (running.some(({ taken }) => taken.id === id)) return context.json({ ...about, status: "in_progress" });
    if (pending.some(({ taken }) => taken.id === id)) return context.json({ ...about, status: "pending" });
    return context.json({ error: "Job not found" }, 404);
  });
  if (age === "middle") return app;
  app.post("/jobs/:id/cancel", (context) => {
    const id = context.req.param("id");
    return context.json({ cancelled: queue.remove(id) || queue.interrupt(id) });
  });
  return app;
}
