// One loop serves every operation: who calls, what they sent, start the run or ask, answer. Nothing about any single
// operation stands here.
import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import { accessAsk } from "../access/access-services.ts";
import type { Authenticator } from "../access/authentication.ts";
import type { AccessDependencies } from "../access/request-context.ts";
import { authorize, isOperatorOperation } from "../access/scopes.ts";
import type { Caller, RunRow } from "../db/runs/runs.ts";
import type { EventStreams } from "../events/event-streams.ts";
import { Fault } from "../faults.ts";
import type { Operation, OperationServices } from "../kit/operation.ts";
import { type ParsedInput, parseInput } from "../kit/parse.ts";
import { type JsonObject, Run } from "../kit/schemas/run.ts";
import type { CursorSigner } from "../library/list-runs.ts";
import { createOperationServices, requireOwnRun } from "../library/operation-services.ts";
import { operations } from "../operations/all.ts";
import { acceptRun, type RunRequest } from "../runs/accept-run.ts";
import { isRunOpen, renderRun, renderRunResult } from "../runs/render-run.ts";
import type { RunWaiter } from "../runs/run-waiter.ts";
import type { Services } from "../runs/services.ts";
import type { Office } from "../webhooks/webhook-service.ts";
import { webhooksOf } from "../webhooks/webhook-store.ts";
import { type Admission, type AdmittedRequest, admitRequest } from "./admission.ts";
import { acceptsCsv, respondWithCsv } from "./csv-response.ts";
import { readIdempotencyKey, respondWithFault } from "./error-response.ts";
import { acceptsEventStream, readLastEventId, respondWithEventStream } from "./event-stream.ts";
import { faultOfFailedRun, respondWithImage } from "./image-response.ts";
import { type Preferences, parsePreferHeader } from "./prefer.ts";
import { type HttpBindings, readRequest } from "./read-request.ts";

export type HttpServices = {
  house: Services;
  office: Office;
  credentials: Authenticator;
  access: AccessDependencies;
  admission: Admission;
  cursors: CursorSigner;
  settled: RunWaiter;
  streams: EventStreams;
};

const PREFIX = "/api/v1";
const POLL_HINT_SECONDS = "2";

export function operationRoutes(desk: HttpServices): Hono<HttpBindings> {
  const app = new Hono<HttpBindings>();
  for (const [path, own] of operationsByPath()) {
    for (const operation of own) {
      app.on(operation.http.method, path, (context) =>
        handleOperation(desk, operation, context).catch((thrown) =>
          respondWithFault(context, thrown, desk.house.log, operation),
        ),
      );
    }
    app.all(path, (context) => {
      context.header("allow", own.map(({ http }) => http.method).join(", "));
      return respondWithFault(context, new Fault("method_not_allowed"), desk.house.log);
    });
  }
  return app;
}

async function handleOperation(
  desk: HttpServices,
  operation: Operation,
  context: Context<HttpBindings>,
): Promise<Response> {
  const caller = await desk.credentials.authenticate(context.req.raw.headers, context.req.url);
  const entry = await admitRequest(desk.admission, { caller, operation }, context);
  try {
    authorize(caller, operation);
    return await handleAdmitted(withTenantIsolation(desk, caller, operation), operation, context, { caller, entry });
  } finally {
    entry.endAdmission();
  }
}

/** Uses a database connection under the caller's row-level security, except for operator operations. */
const withTenantIsolation = (desk: HttpServices, caller: Caller, operation: Operation): HttpServices =>
  isOperatorOperation(operation)
    ? desk
    : { ...desk, house: { ...desk.house, db: desk.house.db.forTenant(caller.tenant_id) } };

async function handleAdmitted(
  desk: HttpServices,
  operation: Operation,
  context: Context<HttpBindings>,
  entered: { caller: Caller; entry: AdmittedRequest },
): Promise<Response> {
  const idempotencyKey = readIdempotencyKey(context.env.incoming.rawHeaders);
  const prefer = parsePreferHeader(context.req.header("prefer"));
  const { raw, body, discard } = await readRequest(context, operation);
  try {
    const parsed = parseInput(operation, raw, body);
    for (const [field, successor] of Object.entries(operation.deprecated ?? {})) {
      if (raw[field] !== undefined) setDeprecationHeaders(context, successor);
    }
    const request = { ...entered, idempotencyKey, prefer };
    if (operation.events) return await respondWithStream(desk, operation, context, { ...request, input: parsed.input });
    return operation.respond
      ? await respondToQuery(desk, operation, context, { ...request, input: parsed.input })
      : await start(desk, operation, context, { ...request, parsed });
  } finally {
    await discard();
  }
}

type OperationRequest = {
  caller: Caller;
  entry: AdmittedRequest;
  idempotencyKey: string | undefined;
  prefer: Preferences;
};

/** A run that is not the caller's is no run, as everywhere; one that the path names ends the stream when it ends. */
async function respondWithStream(
  desk: HttpServices,
  operation: Operation,
  context: Context<HttpBindings>,
  { caller, entry, input }: OperationRequest & { input: JsonObject },
): Promise<Response> {
  const filter = operation.events!(input);
  const after = readLastEventId(context, input.after);
  const run = filter.run_id === undefined ? undefined : await requireOwnRun(desk.house, caller, filter.run_id);
  const isOfRun = operation.http.path.includes(":run_id");
  const { house, streams, credentials } = desk;
  const asked = { streams, house, caller, entry, credentials, filter, after };
  return respondWithEventStream(context, { ...asked, ...(isOfRun && run && { run }) });
}

/** What a creating request made, told as it happens; undefined where the caller did not ask for that, or has no place. */
async function streamNewRun(
  desk: HttpServices,
  context: Context<HttpBindings>,
  { caller, entry, run_id }: { caller: Caller; entry: AdmittedRequest; run_id: string },
): Promise<Response | undefined> {
  if (!acceptsEventStream(context)) return undefined;
  const { house, streams, credentials } = desk;
  const run = await requireOwnRun(house, caller, run_id);
  const asked = { streams, house, caller, entry, credentials, run, filter: {}, after: undefined };
  return respondWithEventStream(context, asked).catch((thrown) => {
    if (thrown instanceof Fault && thrown.code === "rate_limited") return undefined;
    throw thrown;
  });
}

async function start(
  desk: HttpServices,
  operation: Operation,
  context: Context<HttpBindings>,
  request: OperationRequest & { parsed: ParsedInput },
): Promise<Response> {
  const { house } = desk;
  const { caller, entry, prefer, parsed } = request;
  const accepted = await accept(house, operation, request);
  if (accepted.isReplay) context.header("idempotent-replayed", "true");
  setRunHeaders(context, accepted.row.run_id);
  const told = await streamNewRun(desk, context, { caller, entry, run_id: accepted.row.run_id });
  if (told) return told;

  const isPicture = operation.responseKind === "image" && acceptsImage(context, parsed.provided);
  const waits =
    isPicture || (operation.responseKind === "image" ? parsed.provided.sync === true : parsed.input.sync === true);
  const waitSeconds = Math.min(prefer.waitSeconds ?? (waits ? house.limits.syncSeconds : 0), house.limits.syncSeconds);
  const row = await waitForRun(desk, accepted.row, waitSeconds, { context, caller, entry });
  house.crashPoint("answering");
  if (prefer.isMinimal) return respondWithNoContent(context);
  if (isPicture) return respondWithImage(context, house, row);
  if (operation.failsAsError && waitSeconds > 0 && !isRunOpen(row) && row.status !== "completed")
    throw faultOfFailedRun(row);
  if (isRunOpen(row)) context.header("retry-after", POLL_HINT_SECONDS);
  return context.json(
    operation.renderResponse!(renderRun(house, row), renderRunResult(house, row)) as object,
    isRunOpen(row) ? 202 : 200,
  );
}

async function accept(
  house: Services,
  operation: Operation,
  request: OperationRequest & { parsed: RunRequest["parsed"] },
) {
  const { caller, entry, parsed, idempotencyKey, prefer } = request;
  const { openRunLimits: mostOpen, consumeRunRateLimit: admit } = entry;
  const asked = { operation, parsed, idempotencyKey, isStrict: prefer.isStrict, admit, mostOpen };
  const accepted = await acceptRun(house, caller, asked).catch((thrown) => {
    entry.refundRunRateLimit();
    throw thrown;
  });
  // Also where it turned out only at the end that another request with this key was first.
  if (accepted.isReplay) {
    entry.refundRunRateLimit();
    entry.refundRequestRateLimit();
  }
  entry.endAdmission();
  return accepted;
}

function setRunHeaders(context: Context, runId: string): void {
  context.header("location", `${PREFIX}/runs/${runId}`);
  context.header("x-run-id", runId);
}

function respondWithNoContent(context: Context): Response {
  context.header("preference-applied", "return=minimal");
  return context.body(null, 204);
}

/** Callers of a binary operation get the picture unless they ask for JSON, or say that they will not wait. */
const acceptsImage = (context: Context, provided: JsonObject) =>
  provided.sync !== false && !/^application\/json\b/.test(context.req.header("accept") ?? "");

/** The run as it stands after at most so many seconds. A caller that goes away cancels nothing. */
async function waitForRun(
  desk: HttpServices,
  row: RunRow,
  seconds: number,
  request: { context: Context; caller: Caller; entry: AdmittedRequest },
): Promise<RunRow> {
  if (seconds <= 0 || !isRunOpen(row)) return row;
  const stopWaiting = request.entry.acquireWaitSlot();
  if (!stopWaiting) return row;
  await desk.settled.waitForEnd(row.run_id, seconds, request.context.req.raw.signal).finally(stopWaiting);
  return requireOwnRun(desk.house, request.caller, row.run_id);
}

async function respondToQuery(
  desk: HttpServices,
  operation: Operation,
  context: Context<HttpBindings>,
  request: OperationRequest & { input: JsonObject },
): Promise<Response> {
  const { caller, idempotencyKey, prefer, input } = request;
  const onReplay = () => {
    context.header("idempotent-replayed", "true");
    request.entry.refundRequestRateLimit();
  };
  let made: string | undefined;
  const onRun = (runId: string) => {
    made = runId;
    setRunHeaders(context, runId);
  };
  const { house, office, access, cursors } = desk;
  const ask: OperationServices = {
    ...createOperationServices(house, cursors, {
      caller,
      idempotencyKey,
      markReplayed: onReplay,
      onRunAccepted: onRun,
    }),
    ...accessAsk({ ...access, db: house.db, caller, cursors, idempotencyKey, onReplay }),
    webhooks: webhooksOf({ ...office, db: house.db, caller, cursors, idempotencyKey, onReplay }),
  };
  let body = (await operation.respond!(input, ask)) as JsonObject;
  const told = made && (await streamNewRun(desk, context, { caller, entry: request.entry, run_id: made }));
  if (told) return told;
  if (made && prefer.isMinimal) return respondWithNoContent(context);
  if (operation.output === Run) {
    const mayWait = operation.http.method === "GET" && prefer.waitSeconds && isRunOpen(body as Run);
    const stopWaiting = mayWait ? request.entry.acquireWaitSlot() : undefined;
    if (stopWaiting) {
      const seconds = Math.min(prefer.waitSeconds!, desk.house.limits.syncSeconds);
      await desk.settled.waitForEnd(String(body.run_id), seconds).finally(stopWaiting);
      body = (await operation.respond!(input, ask)) as JsonObject;
    }
    return respondWithRun(context, operation, body);
  }
  if (operation.toCsvRows && acceptsCsv(context)) return respondWithCsv(context, operation.toCsvRows(body));
  if (typeof body.next_cursor === "string") setNextPageLink(context, body.next_cursor);
  return context.json(body, (operation.http.status ?? 200) as 200);
}

function respondWithRun(context: Context, operation: Operation, run: JsonObject): Response {
  const text = JSON.stringify(run);
  const isUnderWay = isRunOpen(run as Run);
  if (isUnderWay) context.header("retry-after", POLL_HINT_SECONDS);
  if (operation.http.method !== "GET") return context.json(run, isUnderWay ? 202 : 200);
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

/** Exact paths come first, so that `/runs/generate` is never taken for the run `generate`. */
function operationsByPath(): [path: string, own: Operation[]][] {
  const own = operations.filter((operation) => operation.variantOf === undefined);
  const byPath = Object.entries(Object.groupBy(own, ({ http }) => `${PREFIX}${http.path}`)) as [string, Operation[]][];
  const isExact = ([path]: [string, Operation[]]) => !path.includes(":");
  return [...byPath.filter(isExact), ...byPath.filter((each) => !isExact(each))];
}
