// Serves every operation of the registry with the same steps: authenticate, admit, authorize, parse, then start a run,
// respond to a query or open an event stream. Nothing here is specific to one operation.
import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import { assertRecentLogin } from "../access/recent-login.ts";
import { type RequestContext, scopeToCaller } from "../access/request-context.ts";
import { authorize, isOperatorOperation } from "../access/scopes.ts";
import type { Caller } from "../db/access/caller.ts";
import type { RunRow } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { Operation } from "../kit/operation.ts";
import { type ParsedInput, parseInput } from "../kit/parse.ts";
import { type JsonObject, Run } from "../kit/schemas/run.ts";
import { requireOwnRun } from "../library/operation-services.ts";
import { operations } from "../operations/all.ts";
import { isRunOpen, renderRun, renderRunResult } from "../runs/render-run.ts";
import { type AdmittedRequest, admitRequest } from "./admission.ts";
import { credentialsOf } from "./credentials.ts";
import { acceptsCsv, respondWithCsv } from "./csv-response.ts";
import { readIdempotencyKey, respondWithFault } from "./error-response.ts";
import { acceptsEventStream, readLastEventId, respondWithEventStream } from "./event-stream.ts";
import type { HttpServices } from "./http-services.ts";
import { faultOfFailedRun, respondWithImage } from "./image-response.ts";
import { type Preferences, parsePreferHeader } from "./prefer.ts";
import { type HttpBindings, readRequest } from "./read-request.ts";
import { acceptNewRun, createQueryServices } from "./run-operation.ts";

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
      app.on(operation.http.method, path, (context) =>
        handleOperation(http, mount, operation, context).catch((thrown) =>
          respondWithFault(context, thrown, log, operation),
        ),
      );
    }
    app.all(path, (context) => {
      context.header("allow", own.map(({ http: { method } }) => method).join(", "));
      return respondWithFault(context, new Fault("method_not_allowed"), log);
    });
  }
  return app;
}

/** One request in progress. */
type OperationCall = {
  operation: Operation;
  context: Context<HttpBindings>;
  request: RequestContext;
  admitted: AdmittedRequest;
  prefer: Preferences;
  /** Of the path, for the URL of a new run. */
  prefix: string;
};

async function handleOperation(
  http: HttpServices,
  mount: OperationMount,
  operation: Operation,
  context: Context<HttpBindings>,
): Promise<Response> {
  mount.checkRequest?.(context, operation);
  // Lists have prompts and signed URLs: neither a browser nor a proxy keeps them. Some responses say otherwise.
  context.header("cache-control", "no-store");
  const caller = await http.authenticator.authenticate(credentialsOf(http, context));
  const admitted = await admitRequest(http.admission, { caller, operation }, context);
  try {
    authorize(caller, operation);
    assertRecentLogin(caller, operation, http.runs.clock);
    mount.onAdmitted?.(caller, operation);
    const { database } = http.runs;
    const request: RequestContext = {
      caller,
      requestId: context.res.headers.get("x-request-id") ?? "",
      database: isOperatorOperation(operation) ? database : scopeToCaller(database, caller),
      cursors: http.cursors,
      storageLimits: http.admission.resolveStorageLimits(caller),
      idempotencyKey: readIdempotencyKey(context.env.incoming.rawHeaders),
      onReplay() {
        context.header("idempotent-replayed", "true");
        admitted.refundRequestRateLimit();
      },
      onRunAccepted: (runId) => setRunHeaders(context, mount.prefix, runId),
    };
    const prefer = parsePreferHeader(context.req.header("prefer"));
    return await handleAdmitted(http, { operation, context, request, admitted, prefer, prefix: mount.prefix });
  } finally {
    admitted.endAdmission();
  }
}

async function handleAdmitted(http: HttpServices, call: OperationCall): Promise<Response> {
  const { operation, context } = call;
  const { raw, body, discard } = await readRequest(context, operation, call.admitted.body);
  try {
    const parsed = parseInput(operation, raw, body);
    call.admitted.endParsing();
    for (const [field, successor] of Object.entries(operation.deprecated ?? {})) {
      if (raw[field] !== undefined) setDeprecationHeaders(context, successor);
    }
    if (operation.events) return await respondWithStream(http, call, parsed.input);
    return operation.respond
      ? await respondToQuery(http, call, parsed.input)
      : await respondWithNewRun(http, call, parsed);
  } finally {
    await discard();
  }
}

/** The stream of one run, named in the path, ends with the run. Any other stream is only filtered by `run_id`. */
async function respondWithStream(http: HttpServices, call: OperationCall, input: JsonObject): Promise<Response> {
  const { operation, context, request } = call;
  const filter = operation.events!(input);
  const after = readLastEventId(context, input.after);
  const run = filter.run_id === undefined ? undefined : await requireOwnRun(request, filter.run_id);
  const isStreamOfRun = operation.http.path.includes(":run_id");
  return respondWithEventStream(http, call, { filter, after, ...(isStreamOfRun && run && { run }) });
}

/**
 * Streams the events of a run that this request created. Returns undefined if the client did not ask for a stream, or
 * if the limit of open streams is reached.
 */
async function streamNewRun(http: HttpServices, call: OperationCall, runId: string): Promise<Response | undefined> {
  if (!acceptsEventStream(call.context)) return undefined;
  const run = await requireOwnRun(call.request, runId);
  return respondWithEventStream(http, call, { run, filter: {}, after: undefined }).catch((thrown) => {
    if (thrown instanceof Fault && thrown.code === "rate_limited") return undefined;
    throw thrown;
  });
}

async function respondWithNewRun(http: HttpServices, call: OperationCall, parsed: ParsedInput): Promise<Response> {
  const { operation, context, request, prefer } = call;
  const { database } = request;
  const accepted = await acceptNewRun(http, call, parsed);
  if (accepted.isReplay) context.header("idempotent-replayed", "true");
  setRunHeaders(context, call.prefix, accepted.row.run_id);
  const stream = await streamNewRun(http, call, accepted.row.run_id);
  if (stream) return stream;

  const { syncSeconds } = http.runs.settings.timeouts;
  const returnsImage = operation.responseKind === "image" && acceptsImage(context, parsed.provided);
  const isSync =
    returnsImage || (operation.responseKind === "image" ? parsed.provided.sync === true : parsed.input.sync === true);
  const waitSeconds = Math.min(prefer.waitSeconds ?? (isSync ? syncSeconds : 0), syncSeconds);
  const row = await waitForRun(http, call, accepted.row, waitSeconds);
  http.runs.crashPoint("answering");
  if (prefer.isMinimal) return respondWithNoContent(context);
  if (returnsImage) return respondWithImage(context, { ...http.runs, database }, row);
  if (operation.failsAsError && waitSeconds > 0 && !isRunOpen(row) && row.status !== "completed")
    throw faultOfFailedRun(row);
  if (isRunOpen(row)) context.header("retry-after", POLL_HINT_SECONDS);
  return context.json(
    operation.renderResponse!(renderRun(http.runs, row), renderRunResult(http.runs, row)) as object,
    isRunOpen(row) ? 202 : 200,
  );
}

function setRunHeaders(context: Context, prefix: string, runId: string): void {
  context.header("location", `${prefix}/runs/${runId}`);
  context.header("x-run-id", runId);
}

function respondWithNoContent(context: Context): Response {
  context.header("preference-applied", "return=minimal");
  return context.body(null, 204);
}

/** An image operation returns the image itself, unless the client accepts only JSON or sends `sync: false`. */
const acceptsImage = (context: Context, provided: JsonObject) =>
  provided.sync !== false && !/^application\/json\b/.test(context.req.header("accept") ?? "");

/** Returns the run after at most so many seconds. A client that disconnects does not cancel the run. */
async function waitForRun(
  { runWaiter }: HttpServices,
  { context, request, admitted }: OperationCall,
  row: RunRow,
  seconds: number,
): Promise<RunRow> {
  if (seconds <= 0 || !isRunOpen(row)) return row;
  const releaseSlot = admitted.acquireWaitSlot();
  if (!releaseSlot) return row;
  await runWaiter.waitForEnd(row.run_id, seconds, context.req.raw.signal).finally(releaseSlot);
  return requireOwnRun(request, row.run_id);
}

async function respondToQuery(http: HttpServices, call: OperationCall, input: JsonObject): Promise<Response> {
  const { operation, context, admitted, prefer } = call;
  let createdRunId: string | undefined;
  const request: RequestContext = {
    ...call.request,
    onRunAccepted(runId) {
      createdRunId = runId;
      call.request.onRunAccepted(runId);
    },
  };
  const services = createQueryServices(http, request);
  let body = (await operation.respond!(input, services)) as JsonObject;
  const stream = createdRunId && (await streamNewRun(http, call, createdRunId));
  if (stream) return stream;
  if (createdRunId && prefer.isMinimal) return respondWithNoContent(context);
  if (operation.output === Run) {
    const canWait = operation.http.method === "GET" && prefer.waitSeconds && isRunOpen(body as Run);
    const releaseSlot = canWait ? admitted.acquireWaitSlot() : undefined;
    if (releaseSlot) {
      const seconds = Math.min(prefer.waitSeconds!, http.runs.settings.timeouts.syncSeconds);
      await http.runWaiter.waitForEnd(String(body.run_id), seconds).finally(releaseSlot);
      body = (await operation.respond!(input, services)) as JsonObject;
    }
    return respondWithRun(context, operation, body);
  }
  if (operation.toCsvRows && acceptsCsv(context)) return respondWithCsv(context, operation.toCsvRows(body));
  if (typeof body.next_cursor === "string") setNextPageLink(context, body.next_cursor);
  return context.json(body, (operation.http.status ?? 200) as 200);
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
