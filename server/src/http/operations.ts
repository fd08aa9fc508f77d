// One loop serves every operation: who calls, what they sent, start the run or ask, answer. Nothing about any single
// operation stands here.
import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import { accessAsk } from "../access/ask.ts";
import type { Credentials } from "../access/credentials.ts";
import type { Access } from "../access/desk.ts";
import { authorize, isOperators } from "../access/scopes.ts";
import type { Caller, RunRow } from "../db/runs.ts";
import type { Streams } from "../events/streams.ts";
import { Fault } from "../faults.ts";
import type { Ask, Operation } from "../kit/operation.ts";
import { parseInput } from "../kit/parse.ts";
import { type Json, Run } from "../kit/shapes.ts";
import { operations } from "../operations/all.ts";
import { askOf, ownRun } from "../runs/ask.ts";
import type { House } from "../runs/house.ts";
import type { CursorSigner } from "../runs/list.ts";
import type { Settled } from "../runs/settled.ts";
import { isOpen, showResult, showRun } from "../runs/show.ts";
import { type Asked, startRun } from "../runs/start.ts";
import { webhooksOf } from "../webhooks/library.ts";
import type { Office } from "../webhooks/office.ts";
import { type Admission, type Entry, enter } from "./admission.ts";
import { answerFault, readIdempotencyKey } from "./answer.ts";
import { answerEvents, readAfter, wantsEvents } from "./event-stream.ts";
import { answerPicture, failureOf } from "./picture.ts";
import { type Prefer, readPrefer } from "./prefer.ts";
import { type Bindings, readRequest } from "./read.ts";
import { answerTable, wantsTable } from "./table.ts";

export type Desk = {
  house: House;
  office: Office;
  credentials: Credentials;
  access: Access;
  admission: Admission;
  cursors: CursorSigner;
  settled: Settled;
  streams: Streams;
};

const PREFIX = "/api/v1";
const POLL_HINT_SECONDS = "2";

export function operationRoutes(desk: Desk): Hono<Bindings> {
  const app = new Hono<Bindings>();
  for (const [path, own] of operationsByPath()) {
    for (const operation of own) {
      app.on(operation.http.method, path, (context) =>
        serve(desk, operation, context).catch((thrown) => answerFault(context, thrown, desk.house.log, operation)),
      );
    }
    app.all(path, (context) => {
      context.header("allow", own.map(({ http }) => http.method).join(", "));
      return answerFault(context, new Fault("method_not_allowed"), desk.house.log);
    });
  }
  return app;
}

async function serve(desk: Desk, operation: Operation, context: Context<Bindings>): Promise<Response> {
  const caller = await desk.credentials.callerOf(context.req.raw.headers, context.req.url);
  const entry = await enter(desk.admission, { caller, operation }, context);
  try {
    authorize(caller, operation);
    return await serveEntered(behindWall(desk, caller, operation), operation, context, { caller, entry });
  } finally {
    entry.leave();
  }
}

/** Whatever is done for a caller sees the caller's tenant only, unless it is the operator's own business. */
const behindWall = (desk: Desk, caller: Caller, operation: Operation): Desk =>
  isOperators(operation) ? desk : { ...desk, house: { ...desk.house, db: desk.house.db.as(caller.tenant_id) } };

async function serveEntered(
  desk: Desk,
  operation: Operation,
  context: Context<Bindings>,
  entered: { caller: Caller; entry: Entry },
): Promise<Response> {
  const idempotencyKey = readIdempotencyKey(context.env.incoming.rawHeaders);
  const prefer = readPrefer(context.req.header("prefer"));
  const { raw, body, discard } = await readRequest(context, operation);
  try {
    const parsed = parseInput(operation, raw, body);
    for (const [field, successor] of Object.entries(operation.deprecated ?? {})) {
      if (raw[field] !== undefined) markDeprecated(context, successor);
    }
    const request = { ...entered, idempotencyKey, prefer };
    if (operation.events) return await stream(desk, operation, context, { ...request, input: parsed.input });
    return operation.answer
      ? await answer(desk, operation, context, { ...request, input: parsed.input })
      : await start(desk, operation, context, { ...request, parsed });
  } finally {
    await discard();
  }
}

type Request = { caller: Caller; entry: Entry; idempotencyKey: string | undefined; prefer: Prefer };

/** A run that is not the caller's is no run, as everywhere; one that the path names ends the stream when it ends. */
async function stream(
  desk: Desk,
  operation: Operation,
  context: Context<Bindings>,
  { caller, entry, input }: Request & { input: Json },
): Promise<Response> {
  const filter = operation.events!(input);
  const after = readAfter(context, input.after);
  const run = filter.run_id === undefined ? undefined : await ownRun(desk.house, caller, filter.run_id);
  const isOfRun = operation.http.path.includes(":run_id");
  const { house, streams, credentials } = desk;
  const asked = { streams, house, caller, entry, credentials, filter, after };
  return answerEvents(context, { ...asked, ...(isOfRun && run && { run }) });
}

/** What a creating request made, told as it happens; undefined where the caller did not ask for that, or has no place. */
async function streamMade(
  desk: Desk,
  context: Context<Bindings>,
  { caller, entry, run_id }: { caller: Caller; entry: Entry; run_id: string },
): Promise<Response | undefined> {
  if (!wantsEvents(context)) return undefined;
  const { house, streams, credentials } = desk;
  const run = await ownRun(house, caller, run_id);
  const asked = { streams, house, caller, entry, credentials, run, filter: {}, after: undefined };
  return answerEvents(context, asked).catch((thrown) => {
    if (thrown instanceof Fault && thrown.code === "rate_limited") return undefined;
    throw thrown;
  });
}

async function start(
  desk: Desk,
  operation: Operation,
  context: Context<Bindings>,
  request: Request & { parsed: { input: Json; given: Json } },
): Promise<Response> {
  const { house } = desk;
  const { caller, entry, prefer, parsed } = request;
  const accepted = await accept(house, operation, request);
  if (accepted.isReplay) context.header("idempotent-replayed", "true");
  nameRun(context, accepted.row.run_id);
  const told = await streamMade(desk, context, { caller, entry, run_id: accepted.row.run_id });
  if (told) return told;

  const isPicture = operation.answers === "image" && wantsPicture(context, parsed.given);
  const waits = isPicture || (operation.answers === "image" ? parsed.given.sync === true : parsed.input.sync === true);
  const waitSeconds = Math.min(prefer.waitSeconds ?? (waits ? house.limits.syncSeconds : 0), house.limits.syncSeconds);
  const row = await settle(desk, accepted.row, waitSeconds, { context, caller, entry });
  house.moment("answering");
  if (prefer.isMinimal) return answerNothing(context);
  if (isPicture) return answerPicture(context, house, row);
  if (operation.failsAloud && waitSeconds > 0 && !isOpen(row) && row.status !== "completed") throw failureOf(row);
  if (isOpen(row)) context.header("retry-after", POLL_HINT_SECONDS);
  return context.json(operation.reply!(showRun(house, row), showResult(house, row)) as object, isOpen(row) ? 202 : 200);
}

async function accept(house: House, operation: Operation, request: Request & { parsed: Asked["parsed"] }) {
  const { caller, entry, parsed, idempotencyKey, prefer } = request;
  const { mostOpen, countRun: admit } = entry;
  const asked = { operation, parsed, idempotencyKey, isStrict: prefer.isStrict, admit, mostOpen };
  const accepted = await startRun(house, caller, asked).catch((thrown) => {
    entry.uncountRun();
    throw thrown;
  });
  // Also where it turned out only at the end that another request with this key was first.
  if (accepted.isReplay) {
    entry.uncountRun();
    entry.uncount();
  }
  entry.leave();
  return accepted;
}

function nameRun(context: Context, runId: string): void {
  context.header("location", `${PREFIX}/runs/${runId}`);
  context.header("x-run-id", runId);
}

function answerNothing(context: Context): Response {
  context.header("preference-applied", "return=minimal");
  return context.body(null, 204);
}

/** Callers of a binary operation get the picture unless they ask for JSON, or say that they will not wait. */
const wantsPicture = (context: Context, given: Json) =>
  given.sync !== false && !/^application\/json\b/.test(context.req.header("accept") ?? "");

/** The run as it stands after at most so many seconds. A caller that goes away cancels nothing. */
async function settle(
  desk: Desk,
  row: RunRow,
  seconds: number,
  request: { context: Context; caller: Caller; entry: Entry },
): Promise<RunRow> {
  if (seconds <= 0 || !isOpen(row)) return row;
  const stopWaiting = request.entry.mayWait();
  if (!stopWaiting) return row;
  await desk.settled.wait(row.run_id, seconds, request.context.req.raw.signal).finally(stopWaiting);
  return ownRun(desk.house, request.caller, row.run_id);
}

async function answer(
  desk: Desk,
  operation: Operation,
  context: Context<Bindings>,
  request: Request & { input: Json },
): Promise<Response> {
  const { caller, idempotencyKey, prefer, input } = request;
  const onReplay = () => {
    context.header("idempotent-replayed", "true");
    request.entry.uncount();
  };
  let made: string | undefined;
  const onRun = (runId: string) => {
    made = runId;
    nameRun(context, runId);
  };
  const { house, office, access, cursors } = desk;
  const ask: Ask = {
    ...askOf(house, cursors, { caller, idempotencyKey, onReplay, onRun }),
    ...accessAsk({ ...access, db: house.db, caller, cursors, idempotencyKey, onReplay }),
    webhooks: webhooksOf({ ...office, db: house.db, caller, cursors, idempotencyKey, onReplay }),
  };
  let body = (await operation.answer!(input, ask)) as Json;
  const told = made && (await streamMade(desk, context, { caller, entry: request.entry, run_id: made }));
  if (told) return told;
  if (made && prefer.isMinimal) return answerNothing(context);
  if (operation.output === Run) {
    const mayWait = operation.http.method === "GET" && prefer.waitSeconds && isOpen(body as Run);
    const stopWaiting = mayWait ? request.entry.mayWait() : undefined;
    if (stopWaiting) {
      const seconds = Math.min(prefer.waitSeconds!, desk.house.limits.syncSeconds);
      await desk.settled.wait(String(body.run_id), seconds).finally(stopWaiting);
      body = (await operation.answer!(input, ask)) as Json;
    }
    return answerRun(context, operation, body);
  }
  if (operation.table && wantsTable(context)) return answerTable(context, operation.table(body));
  if (typeof body.next_cursor === "string") linkNext(context, body.next_cursor);
  return context.json(body, (operation.http.status ?? 200) as 200);
}

function answerRun(context: Context, operation: Operation, run: Json): Response {
  const text = JSON.stringify(run);
  const isUnderWay = isOpen(run as Run);
  if (isUnderWay) context.header("retry-after", POLL_HINT_SECONDS);
  if (operation.http.method !== "GET") return context.json(run, isUnderWay ? 202 : 200);
  const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  context.header("etag", etag);
  context.header("cache-control", "private, no-cache");
  if (context.req.header("if-none-match") === etag) return context.body(null, 304);
  return context.body(text, 200, { "content-type": "application/json" });
}

function linkNext(context: Context, cursor: string): void {
  const url = new URL(context.req.url);
  url.searchParams.set("cursor", cursor);
  context.header("link", `<${url.pathname}${url.search}>; rel="next"`, { append: true });
}

function markDeprecated(context: Context, successor: string): void {
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
