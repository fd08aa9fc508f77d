// Gesso's own API: every operation of the registry, served by the pipeline. This dialect reads input from path, query
// and body, and responds with JSON, an image, a table or an event stream. Nothing here is specific to one operation.
import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import type { Operation } from "../contract/operation.ts";
import type { ParsedInput } from "../contract/parse.ts";
import { type JsonObject, Run } from "../contract/schemas/run.ts";
import type { Caller } from "../db/access/caller.ts";
import { Fault } from "../faults/faults.ts";
import { operations } from "../operations/all.ts";
import { requireOwnRun } from "../runs/show/own-run.ts";
import { isRunOpen, renderRun, renderRunResult } from "../runs/show/render-run.ts";
import { acceptsCsv, respondWithCsv } from "./csv-response.ts";
import { faultOfFailedRun, respondWithImage } from "./downloads/image-response.ts";
import { respondWithFault } from "./error-response.ts";
import { acceptsEventStream, readLastEventId, respondWithEventStream } from "./event-stream.ts";
import type { HttpServices } from "./http-services.ts";
import { type Dialect, type HttpCall, type Outcome, type PendingRun, serve, type Translation } from "./pipeline.ts";
import { type Preferences, parsePreferHeader } from "./prefer.ts";
import { type HttpBindings, readRequest } from "./read-request.ts";

const POLL_HINT_SECONDS = "2";

/** Where operations are served, and what applies to requests there in addition. */
export type OperationMount = {
  prefix: string;
  /** Throws to refuse a request before its credential is looked at. */
  checkRequest?(context: Context<HttpBindings>, operation: Operation): void;
  onAdmitted?(caller: Caller, operation: Operation): void;
};
const PUBLIC_API: OperationMount = { prefix: "/api/v1" };

export function operationRoutes(http: HttpServices, mount: OperationMount = PUBLIC_API): Hono<HttpBindings> {
  const { log } = http.runs;
  const app = new Hono<HttpBindings>();
  for (const [path, own] of operationsByPath(mount.prefix)) {
    for (const operation of own) {
      app.on(operation.http.method, path, serve(http, createDialect(http, mount, operation)));
    }
    app.all(path, (context) => {
      context.header("allow", own.map(({ http: { method } }) => method).join(", "));
      return respondWithFault(context, new Fault("method_not_allowed"), log);
    });
  }
  return app;
}

/** A request of this dialect. `raw`: its fields as the client wrote them. */
type OperationInput = Translation & { raw: JsonObject; prefer: Preferences; acceptsImage: boolean };
type ParsedOperationInput = OperationInput & { parsed: ParsedInput };

function createDialect(http: HttpServices, mount: OperationMount, operation: Operation): Dialect<OperationInput> {
  const { syncSeconds } = http.runs.settings.timeouts;
  return {
    operation,
    checkRequest(context) {
      mount.checkRequest?.(context, operation);
      // Lists have prompts and signed URLs: neither a browser nor a proxy keeps them. Some responses say otherwise.
      context.header("cache-control", "no-store");
    },
    onAdmitted: (caller) => mount.onAdmitted?.(caller, operation),
    read: (context, admission) => readRequest(context, operation, admission),
    translate({ raw, body }, { context }) {
      const prefer = parsePreferHeader(context.req.header("prefer"));
      const acceptsImage = !/^application\/json\b/.test(context.req.header("accept") ?? "");
      return { operation, raw, input: raw, body, prefer, acceptsImage, isStrict: prefer.isStrict };
    },
    onValid({ raw }, { context }) {
      for (const [field, successor] of Object.entries(operation.deprecated ?? {})) {
        if (raw[field] !== undefined) setDeprecationHeaders(context, successor);
      }
    },
    wait: (request) => ({ seconds: waitSecondsOf(request, syncSeconds) }),
    onRunAccepted: (runId, context) => context.header("location", `${mount.prefix}/runs/${runId}`),
    stream: (run, _request, call) => streamNewRun(http, call, run),
    respond: (outcome, request, call) => respondWithOutcome(http, call, request, outcome),
    respondWithFault: (context, thrown) => respondWithFault(context, thrown, http.runs.log, operation),
  };
}

/** An image operation returns the image itself, unless the client accepts only JSON or sends `sync: false`. */
const returnsImage = ({ operation, acceptsImage, parsed }: ParsedOperationInput) =>
  operation.responseKind === "image" && acceptsImage && parsed.provided.sync !== false;

const isRunOperation = ({ plan, repeatRun }: Operation) => plan !== undefined || repeatRun !== undefined;

function waitSecondsOf(request: ParsedOperationInput, syncSeconds: number): number {
  const { operation, parsed, prefer } = request;
  const { sync } = operation.responseKind === "image" ? parsed.provided : parsed.input;
  const isSync = isRunOperation(operation) && (sync === true || returnsImage(request));
  return Math.min(prefer.waitSeconds ?? (isSync ? syncSeconds : 0), syncSeconds);
}

async function respondWithOutcome(
  http: HttpServices,
  call: HttpCall,
  request: ParsedOperationInput,
  outcome: Outcome,
): Promise<Response> {
  const { context } = call;
  const { operation, prefer } = request;
  if (outcome.kind === "run") return respondWithNewRun(http, call, request, outcome);
  if (outcome.kind === "events") {
    const after = readLastEventId(context, request.parsed.input.after);
    return respondWithEventStream(http, { ...call, request: outcome.request }, { ...outcome, after });
  }
  const { body } = outcome;
  if (outcome.isOfNewRun && prefer.isMinimal) return respondWithNoContent(context);
  if (operation.output === Run) return respondWithRun(context, operation, body);
  if (operation.toCsvRows && acceptsCsv(context)) return respondWithCsv(context, operation.toCsvRows(body));
  if (typeof body.next_cursor === "string") setNextPageLink(context, body.next_cursor);
  return context.json(body, (operation.http.status ?? 200) as 200);
}

/**
 * Streams the events of a run that this request created. Returns undefined if the client did not ask for a stream, or
 * if the limit of open streams is reached.
 */
async function streamNewRun(
  http: HttpServices,
  call: HttpCall,
  { runId, request }: PendingRun,
): Promise<Response | undefined> {
  if (!acceptsEventStream(call.context)) return undefined;
  const run = await requireOwnRun(request, runId);
  return respondWithEventStream(http, { ...call, request }, { run, filter: {}, after: undefined }).catch((thrown) => {
    if (thrown instanceof Fault && thrown.code === "rate_limited") return undefined;
    throw thrown;
  });
}

async function respondWithNewRun(
  { runs }: HttpServices,
  { context }: HttpCall,
  request: ParsedOperationInput,
  { row, request: { database } }: Extract<Outcome, { kind: "run" }>,
): Promise<Response> {
  const { operation, prefer } = request;
  if (prefer.isMinimal) return respondWithNoContent(context);
  if (returnsImage(request)) return respondWithImage(context, { ...runs, database }, row);
  const hasWaited = waitSecondsOf(request, runs.settings.timeouts.syncSeconds) > 0;
  if (operation.failsAsError && hasWaited && !isRunOpen(row) && row.status !== "completed") throw faultOfFailedRun(row);
  if (isRunOpen(row)) context.header("retry-after", POLL_HINT_SECONDS);
  return context.json(
    operation.renderResponse!(renderRun(runs, row), renderRunResult(runs, row)) as object,
    isRunOpen(row) ? 202 : 200,
  );
}

function respondWithNoContent(context: Context): Response {
  context.header("preference-applied", "return=minimal");
  return context.body(null, 204);
}

function respondWithRun(context: Context, operation: Operation, run: JsonObject): Response {
  const text = JSON.stringify(run);
  const isOpen = isRunOpen(run as Run);
  if (isOpen) context.header("retry-after", POLL_HINT_SECONDS);
  // A change is complete when it is returned, even if the run is open.
  if (operation.http.method !== "GET") return context.json(run, isOpen && operation.http.method === "POST" ? 202 : 200);
  const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  context.header("etag", etag);
  context.header("cache-control", "private, no-cache");
  if (context.req.header("if-none-match") === etag) return context.body(null, 304);
  return context.body(text, 200, { "content-type": "application/json" });
}

function setNextPageLink(context: Context, cursor: string): void {
  const url = new URL(context.req.url);
  url.searchParams.set("cursor", cursor);
  context.header("link", `<${url.pathname}${url.search}>; rel="next"`, { append: true });
}

function setDeprecationHeaders(context: Context, successor: string): void {
  context.header("deprecation", "@1767225600");
  context.header("link", `</openapi.json#${successor}>; rel="successor-version"`, { append: true });
}

/** Paths without parameters come first, so that `/runs/generate` is not matched as a run id. */
function operationsByPath(prefix: string): [path: string, own: Operation[]][] {
  const own = operations.filter((operation) => operation.variantOf === undefined);
  const byPath = Object.entries(Object.groupBy(own, ({ http }) => `${prefix}${http.path}`)) as [string, Operation[]][];
  const isExact = ([path]: [string, Operation[]]) => !path.includes(":");
  return [...byPath.filter(isExact), ...byPath.filter((each) => !isExact(each))];
}
