// The common part of all fake vendors: an HTTP server with a ledger of accepted jobs, switches for failures, result
// files and callbacks. Routes and request schemas are in the file of each vendor.
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type HttpBindings, serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { createLongVideo } from "../support/long-video.ts";

/** What may go wrong. All are off at first; a test turns one on by writing to it. */
export type FaultSwitches = {
  /** Delay of the response to a submission. */
  responseMs: number;
  /** Duration of a job. */
  workMs: number;
  /** The next submissions get this response, and no job is accepted. */
  refuse: { times: number; status: number; headers?: Record<string, string>; body?: unknown } | undefined;
  /** The next submissions lose their connection, before or after the job is accepted. */
  drop: { times: number; when: "before" | "after" } | undefined;
  /** The next submissions never get a response; `after`: the job is accepted. */
  hang: { times: number; when: "before" | "after" } | undefined;
  /** The outcome of jobs that are accepted from now on. */
  outcome: "done" | "failed" | "moderated" | "never";
  /** What is found at the address of a result. `long`: a video of `longBytes`. */
  result: "whole" | "expired" | "wrong-type" | "huge" | "long";
  longBytes: number;
  /** `early`: a running message arrives after the final one. `forged`: with a wrong signature. */
  callbacks: "once" | "twice" | "early" | "forged" | "none";
  /** Models that are no longer known. */
  retired: string[];
  /** What models cost today, by path, at vendors that say it: US dollars for a unit. */
  prices: Record<string, { usd: number; unit: string }>;
  /** Models beside those that the fake was written for, by path: what the vendor publishes about them. */
  published: Record<string, unknown>;
};

/** A job in the ledger. `request` is the request as the vendor parsed it. */
export type VendorJob = {
  id: string;
  model: string;
  request: Record<string, unknown>;
  acceptedAt: number;
  endsAt: number;
  outcome: FaultSwitches["outcome"];
  canceledAt?: number;
  /** When the response to the submission had been sent. */
  respondedAt?: number;
  /** The connection was lost before the response to the submission had been sent. */
  isResponseLost?: boolean;
};
export type VendorJobState = "queued" | "running" | "done" | "failed" | "moderated" | "canceled";

export type FakeVendor = {
  url: string;
  switches: FaultSwitches;
  /** Every job ever accepted, in order: the jobs that a vendor would bill. */
  ledger: VendorJob[];
  /** The SHA-256 of every result that was produced. */
  producedHashes: Set<string>;
  /** Requests rejected as malformed. An adapter must never cause one. */
  invalidRequests: string[];
  /** All jobs are forgotten, as by a server that keeps them in memory and was restarted; the ledger stays. */
  forgetJobs(): void;
  /** Refuses connections until `startListening`. The URL stays the same. */
  stopListening(): Promise<void>;
  startListening(): Promise<void>;
  close(): Promise<void>;
};

export type VendorContext = Context<{ Bindings: HttpBindings }>;

/** What the routes of a vendor work with. */
export type FakeVendorServices = {
  url(): string;
  switches: FaultSwitches;
  /**
   * Accepts a job, or does what the switches say. A `Response` must be returned unchanged. `fail` is the vendor's error
   * body for this status.
   */
  acceptJob(
    context: VendorContext,
    job: Pick<VendorJob, "model" | "request"> & { id?: string },
    fail: (status: number) => unknown,
  ): Promise<VendorJob | Response>;
  find(id: string): VendorJob | undefined;
  jobs(): VendorJob[];
  stateOf(job: VendorJob): VendorJobState;
  /** Resolves when the job has ended: for vendors that respond only then. */
  ended(job: VendorJob): Promise<void>;
  cancel(job: VendorJob): void;
  /** Stores bytes at a URL of the fake vendor and returns the URL. */
  storeFile(bytes: Uint8Array, mediaType: string): string;
  /** Records the bytes of a result that a response contains. `storeFile` does so itself. */
  recordResult(bytes: Uint8Array): void;
  /** Sends callbacks when the job has ended, and before if `render` returns one then, as the switches say. */
  sendCallback(
    job: VendorJob,
    url: string,
    says: (standing: VendorJobState) => Promise<VendorCallback | undefined>,
  ): void;
  recordInvalidRequest(what: string): void;
};
export type VendorCallback = { body: string; headers: Record<string, string>; forged?: Record<string, string> };

/** A fake vendor that tests can start. */
export type FakeVendorDefinition = {
  /** The ID of the provider that uses it. */
  id: string;
  start(): Promise<FakeVendor>;
  /** Settings that point the provider at the fake vendor. */
  env(fakeVendor: FakeVendor): Record<string, string>;
};

const NO_FAULTS: FaultSwitches = {
  responseMs: 0,
  workMs: 50,
  refuse: undefined,
  drop: undefined,
  hang: undefined,
  outcome: "done",
  result: "whole",
  longBytes: 0,
  callbacks: "once",
  retired: [],
  published: {},
  prices: {},
};

const never = () => new Promise<never>(() => {});

function consumeSwitch<Switch extends { times: number }>(
  switched: Switch | undefined,
  fits: (it: Switch) => boolean = () => true,
) {
  if (!switched || switched.times <= 0 || !fits(switched)) return undefined;
  switched.times -= 1;
  return switched;
}

/** The socket dies under the request, as when a line is cut. */
function resetConnection(context: VendorContext): Promise<never> {
  (context.env.incoming as IncomingMessage).socket.resetAndDestroy();
  return never();
}

export async function startFakeVendor(
  routes: (services: FakeVendorServices) => Hono<{ Bindings: HttpBindings }>,
): Promise<FakeVendor> {
  const switches = { ...NO_FAULTS, published: {}, prices: {} };
  const ledger: VendorJob[] = [];
  const producedHashes = new Set<string>();
  const problems: string[] = [];
  const known = new Map<string, VendorJob>();
  const files = new Map<string, { bytes: Uint8Array; mediaType: string }>();
  const stopped = new AbortController();
  let url = "";

  const services: FakeVendorServices = {
    url: () => url,
    switches,
    async acceptJob(context, { id = randomUUID(), model, request }, fail) {
      const refusal = consumeSwitch(switches.refuse);
      if (refusal) {
        const body = refusal.body ?? fail(refusal.status);
        return Response.json(body, { status: refusal.status, headers: refusal.headers ?? {} });
      }
      if (consumeSwitch(switches.drop, ({ when }) => when === "before")) return resetConnection(context);
      if (consumeSwitch(switches.hang, ({ when }) => when === "before")) return never();
      const now = Date.now();
      const { outcome, workMs } = switches;
      const job: VendorJob = {
        id,
        model,
        request,
        acceptedAt: now,
        endsAt: now + switches.responseMs + workMs,
        outcome,
      };
      ledger.push(job);
      const { outgoing } = context.env;
      outgoing.once("close", () => {
        if (outgoing.writableFinished) job.respondedAt ??= Date.now();
        else job.isResponseLost = true;
      });
      outgoing.once("finish", () => {
        job.respondedAt = Date.now();
      });
      known.set(id, job);
      if (consumeSwitch(switches.drop, ({ when }) => when === "after")) return resetConnection(context);
      if (consumeSwitch(switches.hang, ({ when }) => when === "after")) return never();
      if (switches.responseMs > 0) await pause(switches.responseMs);
      return job;
    },
    find: (id) => known.get(id),
    jobs: () => [...known.values()],
    stateOf: (job) => {
      if (job.canceledAt !== undefined) return "canceled";
      const now = Date.now();
      if (now < job.endsAt || job.outcome === "never") return now < job.acceptedAt + 20 ? "queued" : "running";
      return job.outcome;
    },
    async ended(job) {
      while (["queued", "running"].includes(services.stateOf(job)) && !stopped.signal.aborted) {
        await pause(Math.max(5, Math.min(200, job.endsAt - Date.now())));
      }
    },
    cancel: (job) => {
      if (["queued", "running"].includes(services.stateOf(job))) job.canceledAt = Date.now();
    },
    storeFile(bytes, mediaType) {
      const id = randomUUID();
      files.set(id, { bytes, mediaType });
      services.recordResult(bytes);
      return `${url}/files/${id}`;
    },
    recordResult: (bytes) => void producedHashes.add(createHash("sha256").update(bytes).digest("hex")),
    sendCallback(job, to, says) {
      const post = async (standing: VendorJobState) => {
        const word = await says(standing);
        if (!word || stopped.signal.aborted) return;
        const headers = switches.callbacks === "forged" ? { ...word.headers, ...word.forged } : word.headers;
        const request = { method: "POST", body: word.body, headers, signal: stopped.signal };
        await fetch(to, request)
          .then((response) => response.body?.cancel())
          .catch(() => {});
      };
      void (async () => {
        await post("running");
        await services.ended(job);
        const how = switches.callbacks;
        if (how === "none") return;
        await post(services.stateOf(job));
        if (how === "twice") await post(services.stateOf(job));
        if (how === "early") await post("running");
      })();
    },
    recordInvalidRequest: (what) => void problems.push(what),
  };

  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get("/files/:id", async (context) => {
    const file = files.get(context.req.param("id"));
    if (!file || switches.result === "expired") return context.text("This link has expired.", 403);
    if (switches.result === "wrong-type") return context.html("<html>Please sign in</html>");
    if (switches.result === "huge") return new Response(endless(), { headers: { "content-type": file.mediaType } });
    if (switches.result === "long") return serveLongVideo(switches.longBytes);
    return new Response(Buffer.from(file.bytes), { headers: { "content-type": file.mediaType } });
  });
  app.route("/", routes(services));
  app.notFound((context) => {
    problems.push(`nothing at ${context.req.method} ${context.req.path}`);
    return context.json({ error: "not found" }, 404);
  });

  const listen = (port: number) =>
    new Promise<ReturnType<typeof serve>>((resolve) => {
      // A test and its vendor are one process: while a busy machine stalls it, no idle connection may be closed.
      const server = serve(
        { fetch: app.fetch, hostname: "127.0.0.1", port, serverOptions: { keepAliveTimeout: 600_000 } },
        (address) => {
          url = `http://127.0.0.1:${address.port}`;
          resolve(server);
        },
      );
    });
  let server: ReturnType<typeof serve> | undefined = await listen(0);
  const shut = async () => {
    const closing = server;
    server = undefined;
    if (!closing) return;
    await new Promise<void>((resolve) => {
      closing.close(() => resolve());
      if ("closeAllConnections" in closing) closing.closeAllConnections();
    });
  };

  return {
    url,
    switches,
    ledger,
    producedHashes,
    invalidRequests: problems,
    forgetJobs: () => known.clear(),
    stopListening: shut,
    async startListening() {
      server ??= await listen(Number(new URL(url).port));
    },
    async close() {
      stopped.abort();
      await shut();
    },
  };
}

async function serveLongVideo(sizeBytes: number): Promise<Response> {
  const video = await createLongVideo(sizeBytes);
  const headers = { "content-type": "video/mp4", "content-length": String(video.sizeBytes) };
  return new Response(Readable.toWeb(Readable.from(video.chunks())) as ReadableStream, { headers });
}

/** A file that does not end before its reader does. */
const endless = () =>
  new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
  });
