// A vendor's cloud on a real socket, as far as all vendors are alike: a ledger of the jobs it took, switches for everything
// that goes wrong in the world, files, and callbacks. What makes it one vendor and not another is the vendor's own file.
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { type HttpBindings, serve } from "@hono/node-server";
import { type Context, Hono } from "hono";

/** What may go wrong. All are off at first; a test turns one on by writing to it. */
export type Switches = {
  /** How long an answer to a submission takes. */
  answerMs: number;
  /** How long a job takes. */
  workMs: number;
  /** The next submissions are answered like this, and nothing is taken. */
  refuse: { times: number; status: number; headers?: Record<string, string>; body?: unknown } | undefined;
  /** The next submissions lose their connection, before the job was taken or after. */
  drop: { times: number; when: "before" | "after" } | undefined;
  /** The next submissions are never answered; `after`: although the job was taken. */
  hang: { times: number; when: "before" | "after" } | undefined;
  /** What becomes of a job that is taken from now on. */
  outcome: "done" | "failed" | "moderated" | "never";
  /** What is found at the address of a result. */
  result: "whole" | "expired" | "wrong-type" | "huge";
  /** `early`: one that says running comes after one that says ended. `forged`: with a signature of somebody else. */
  callbacks: "once" | "twice" | "early" | "forged" | "none";
  /** Models that are no longer known. */
  retired: string[];
};

/** A job in the ledger. `request` is what was asked, as the vendor read it. */
export type Taken = {
  id: string;
  model: string;
  request: Record<string, unknown>;
  takenAt: number;
  endsAt: number;
  outcome: Switches["outcome"];
  canceledAt?: number;
};
export type Standing = "queued" | "running" | "done" | "failed" | "moderated" | "canceled";

export type StandIn = {
  url: string;
  switches: Switches;
  /** Every job that was ever taken, in order: what a vendor would send a bill for. */
  ledger: Taken[];
  /** Requests that were refused for what they looked like: no adapter of ours should ever cause one by itself. */
  complaints: string[];
  /** All jobs are forgotten, as by a server that keeps them in memory and was restarted; the ledger stays. */
  forget(): void;
  /** Nobody listens any more, until `open`. The address stays the same. */
  shut(): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
};

export type VendorContext = Context<{ Bindings: HttpBindings }>;

/** What a vendor's own routes work with. */
export type Shop = {
  url(): string;
  switches: Switches;
  /**
   * Takes a job, or does what the switches say. A `Response` must be answered as it is. `fail` is the vendor's own body for
   * an error of this status.
   */
  take(
    context: VendorContext,
    job: Pick<Taken, "model" | "request"> & { id?: string },
    fail: (status: number) => unknown,
  ): Promise<Taken | Response>;
  find(id: string): Taken | undefined;
  jobs(): Taken[];
  standing(job: Taken): Standing;
  /** Resolves when the job has ended: for vendors that answer only then. */
  ended(job: Taken): Promise<void>;
  cancel(job: Taken): void;
  /** Keeps bytes under an address of the stand-in and answers it. */
  keepFile(bytes: Uint8Array, mediaType: string): string;
  /** Calls back when the job has ended (and before, where `says` has something to say then), as the switches want it. */
  callBack(job: Taken, url: string, says: (standing: Standing) => Promise<Callback | undefined>): void;
  complain(what: string): void;
};
export type Callback = { body: string; headers: Record<string, string>; forged?: Record<string, string> };

/** A vendor, to be started by anyone who wants to test against it. */
export type VendorKit = {
  /** The id of the provider that speaks to it. */
  id: string;
  start(): Promise<StandIn>;
  /** Settings that point the provider at the stand-in. */
  env(standIn: StandIn): Record<string, string>;
};

const OFF: Switches = {
  answerMs: 0,
  workMs: 50,
  refuse: undefined,
  drop: undefined,
  hang: undefined,
  outcome: "done",
  result: "whole",
  callbacks: "once",
  retired: [],
};

const never = () => new Promise<never>(() => {});

function use<Switch extends { times: number }>(
  switched: Switch | undefined,
  fits: (it: Switch) => boolean = () => true,
) {
  if (!switched || switched.times <= 0 || !fits(switched)) return undefined;
  switched.times -= 1;
  return switched;
}

/** The socket dies under the request, as when a line is cut. */
function cut(context: VendorContext): Promise<never> {
  (context.env.incoming as IncomingMessage).socket.resetAndDestroy();
  return never();
}

export async function startStandIn(routes: (shop: Shop) => Hono<{ Bindings: HttpBindings }>): Promise<StandIn> {
  const switches = { ...OFF };
  const ledger: Taken[] = [];
  const complaints: string[] = [];
  const known = new Map<string, Taken>();
  const files = new Map<string, { bytes: Uint8Array; mediaType: string }>();
  const stopped = new AbortController();
  let url = "";

  const shop: Shop = {
    url: () => url,
    switches,
    async take(context, { id = randomUUID(), model, request }, fail) {
      const refusal = use(switches.refuse);
      if (refusal) {
        const body = refusal.body ?? fail(refusal.status);
        return Response.json(body, { status: refusal.status, headers: refusal.headers ?? {} });
      }
      if (use(switches.drop, ({ when }) => when === "before")) return cut(context);
      if (use(switches.hang, ({ when }) => when === "before")) return never();
      const now = Date.now();
      const { outcome, workMs } = switches;
      const job: Taken = { id, model, request, takenAt: now, endsAt: now + switches.answerMs + workMs, outcome };
      ledger.push(job);
      known.set(id, job);
      if (use(switches.drop, ({ when }) => when === "after")) return cut(context);
      if (use(switches.hang, ({ when }) => when === "after")) return never();
      if (switches.answerMs > 0) await pause(switches.answerMs);
      return job;
    },
    find: (id) => known.get(id),
    jobs: () => [...known.values()],
    standing: (job) => {
      if (job.canceledAt !== undefined) return "canceled";
      const now = Date.now();
      if (now < job.endsAt || job.outcome === "never") return now < job.takenAt + 20 ? "queued" : "running";
      return job.outcome;
    },
    async ended(job) {
      while (["queued", "running"].includes(shop.standing(job)) && !stopped.signal.aborted) {
        await pause(Math.max(5, Math.min(200, job.endsAt - Date.now())));
      }
    },
    cancel: (job) => {
      if (["queued", "running"].includes(shop.standing(job))) job.canceledAt = Date.now();
    },
    keepFile(bytes, mediaType) {
      const id = randomUUID();
      files.set(id, { bytes, mediaType });
      return `${url}/files/${id}`;
    },
    callBack(job, to, says) {
      const post = async (standing: Standing) => {
        const word = await says(standing);
        if (!word || stopped.signal.aborted) return;
        const headers = switches.callbacks === "forged" ? { ...word.headers, ...word.forged } : word.headers;
        const request = { method: "POST", body: word.body, headers, signal: stopped.signal };
        await fetch(to, request)
          .then((answer) => answer.body?.cancel())
          .catch(() => {});
      };
      void (async () => {
        await post("running");
        await shop.ended(job);
        const how = switches.callbacks;
        if (how === "none") return;
        await post(shop.standing(job));
        if (how === "twice") await post(shop.standing(job));
        if (how === "early") await post("running");
      })();
    },
    complain: (what) => void complaints.push(what),
  };

  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get("/files/:id", (context) => {
    const file = files.get(context.req.param("id"));
    if (!file || switches.result === "expired") return context.text("This link has expired.", 403);
    if (switches.result === "wrong-type") return context.html("<html>Please sign in</html>");
    if (switches.result === "huge") return new Response(endless(), { headers: { "content-type": file.mediaType } });
    return new Response(Buffer.from(file.bytes), { headers: { "content-type": file.mediaType } });
  });
  app.route("/", routes(shop));
  app.notFound((context) => {
    complaints.push(`nothing at ${context.req.method} ${context.req.path}`);
    return context.json({ error: "not found" }, 404);
  });

  const listen = (port: number) =>
    new Promise<ReturnType<typeof serve>>((resolve) => {
      const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, (address) => {
        url = `http://127.0.0.1:${address.port}`;
        resolve(server);
      });
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
    complaints,
    forget: () => known.clear(),
    shut,
    async open() {
      server ??= await listen(Number(new URL(url).port));
    },
    async close() {
      stopped.abort();
      await shut();
    },
  };
}

/** A file that does not end before its reader does. */
const endless = () =>
  new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
  });
