// The steps of every request, whichever API its client speaks: authenticate, admit, authorize, read, build the context,
// start a run or respond to a query, and wait. A dialect only translates requests and writes responses. No other file
// builds a RequestContext or waits for a run.
import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import { type RequestContext, scopeToCaller } from "../access/request-context.ts";
import { authorize, isOperatorOperation } from "../access/scopes.ts";
import { assertRecentLogin } from "../access/sign-in/recent-login.ts";
import type { BodyKind, Operation } from "../contract/operation.ts";
import { type ParsedInput, parseInput } from "../contract/parse.ts";
import type { EventFilter } from "../contract/schemas/events.ts";
import { type JsonObject, Run } from "../contract/schemas/run.ts";
import type { Caller } from "../db/access/caller.ts";
import type { RunRow } from "../db/runs/runs.ts";
import { Fault } from "../faults/faults.ts";
import type { ClientRequest } from "../idempotency/client-requests.ts";
import type { QueryServices } from "../operations/all.ts";
import { type AcceptedRun, acceptRun, type RunRequest } from "../runs/accept/accept-run.ts";
import { repeatRun } from "../runs/accept/repeat-run.ts";
import { requireOwnRun } from "../runs/show/own-run.ts";
import { isRunOpen } from "../runs/show/render-run.ts";
import { type AdmittedRequest, admitRequest, type BodyAdmission } from "./admission.ts";
import { credentialsOf } from "./credentials.ts";
import { readIdempotencyKey } from "./error-response.ts";
import type { HttpServices } from "./http-services.ts";
import type { HttpBindings, RequestInput } from "./read-request.ts";
import { trackDelivery } from "./track-delivery.ts";

/** A request by an authenticated caller whom admission let in. */
export type Call = {
  caller: Caller;
  admitted: AdmittedRequest;
  requestId: string;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
  /** Tells whether the response was delivered. */
  outgoing: ServerResponse;
  idempotencyKey?: string | undefined;
  /** Called if the request repeats an earlier one. */
  onReplay?(): void;
  /** Called with the ID of the run that the request created or repeats. */
  onRunAccepted?(runId: string): void;
};

/** How long a request waits for its run. `onProgress` is called every second. */
export type Wait<R = RunRow> = { seconds: number; onProgress?(run: R): Promise<void> };

/** What a request asks for, in terms of Gesso. */
export type OperationRequest = {
  operation: Operation;
  parsed: ParsedInput;
  wait: Wait;
  /** Without a free place to wait, the request is refused before its run exists. Default: it gets the open run. */
  isUselessOpen?: boolean;
  isStrict?: boolean;
  /** What identifies the request, for clients that send it again without an idempotency key. */
  repeat?: Pick<ClientRequest, "api" | "content" | "isRetry"> | undefined;
} & Pick<RunRequest, "identity" | "checkEstimate">;

/** A run that the request has created, before the request waits for it. */
export type PendingRun = {
  runId: string;
  request: RequestContext;
  /** The run at its end, or as it is when the wait is over. */
  wait(): Promise<RunRow>;
  /** Gives the place among the waiting requests back. A dialect that streams the run calls it at the end. */
  release(): void;
};

/** What a dialect responds with. */
export type Outcome =
  | { kind: "run"; row: RunRow; request: RequestContext }
  | { kind: "body"; body: JsonObject; isOfNewRun: boolean; request: RequestContext }
  | { kind: "events"; filter: EventFilter; run?: RunRow; request: RequestContext };
type Streamed = { kind: "streamed"; response: Response };

/** Streams a run that the request has created. Returns undefined if it does not: then the request waits as usual. */
type StreamRun = (run: PendingRun) => Response | undefined | Promise<Response | undefined>;

/** What a dialect makes of a request. */
export type Translation = Omit<OperationRequest, "parsed" | "wait"> & {
  input: JsonObject;
  /** Kind of the body that the input comes from. */
  body?: BodyKind | undefined;
};
type Parsed<T> = T & { parsed: ParsedInput };
export type HttpCall = Call & { context: Context<HttpBindings> };

/** How clients of one endpoint write requests and read responses. `T`: what it keeps of a request for the response. */
export type Dialect<T extends Translation = Translation> = {
  /** Whose scopes and admission a request needs before it is read. */
  operation: Operation;
  /** Throws to refuse a request before its credential is looked at. */
  checkRequest?(context: Context<HttpBindings>): void;
  onAdmitted?(caller: Caller): void;
  read(context: Context<HttpBindings>, admission: BodyAdmission): Promise<RequestInput>;
  translate(input: RequestInput, call: HttpCall): T | Promise<T>;
  onValid?(request: Parsed<T>, call: HttpCall): void;
  wait(request: Parsed<T>): Wait;
  onRunAccepted?(runId: string, context: Context<HttpBindings>): void;
  stream?(run: PendingRun, request: Parsed<T>, call: HttpCall): ReturnType<StreamRun>;
  respond(outcome: Outcome, request: Parsed<T>, call: HttpCall): Response | Promise<Response>;
  respondWithFault(context: Context<HttpBindings>, thrown: unknown): Response;
};

/** Serves the requests to one endpoint. */
export const serve =
  <T extends Translation>(http: HttpServices, dialect: Dialect<T>) =>
  (context: Context<HttpBindings>): Promise<Response> =>
    serveRequest(http, dialect, context).catch((thrown) => dialect.respondWithFault(context, thrown));

async function serveRequest<T extends Translation>(
  http: HttpServices,
  dialect: Dialect<T>,
  context: Context<HttpBindings>,
): Promise<Response> {
  const { operation } = dialect;
  dialect.checkRequest?.(context);
  return admit(http, context, { operation }, async (admittedCall) => {
    const { caller, admitted } = admittedCall;
    authorize(caller, operation);
    assertRecentLogin(caller, operation, http.runs.clock);
    dialect.onAdmitted?.(caller);
    const call: HttpCall = {
      ...admittedCall,
      context,
      idempotencyKey: readIdempotencyKey(context.env.incoming.rawHeaders),
      onReplay: () => context.header("idempotent-replayed", "true"),
      onRunAccepted(runId) {
        context.header("x-run-id", runId);
        dialect.onRunAccepted?.(runId, context);
      },
    };
    const input = await dialect.read(context, admitted.body);
    try {
      const translated = await dialect.translate(input, call);
      if (translated.operation !== operation) authorize(caller, translated.operation);
      const parsed = parseInput(translated.operation, translated.input, translated.body);
      admitted.endParsing();
      const request = { ...translated, parsed };
      dialect.onValid?.(request, call);
      const outcome = await perform(http, call, { ...request, wait: dialect.wait(request) }, (run) =>
        dialect.stream?.(run, request, call),
      );
      return outcome.kind === "streamed" ? outcome.response : await dialect.respond(outcome, request, call);
    } finally {
      await input.discard();
    }
  });
}

/** Authenticates and admits a request, and ends its admission when it is served. */
export async function admit<T>(
  http: HttpServices,
  context: Context<HttpBindings>,
  { operation, onAuthenticated }: { operation: Pick<Operation, "http">; onAuthenticated?(): void },
  serveAdmitted: (call: Call) => Promise<T>,
): Promise<T> {
  const caller = await http.callers.authenticator.authenticate(credentialsOf(http, context));
  onAuthenticated?.();
  const admitted = await admitRequest(http.callers.admission, { caller, operation }, context);
  try {
    return await serveAdmitted({
      ...{ caller, admitted, outgoing: context.env.outgoing, signal: context.req.raw.signal },
      requestId: context.res.headers.get("x-request-id") ?? "",
    });
  } finally {
    admitted.endAdmission();
  }
}

/** Performs an authorized request: starts a run, responds to a query or finds events. */
export async function perform(
  http: HttpServices,
  call: Call,
  request: OperationRequest,
  stream: StreamRun = () => undefined,
): Promise<Outcome | Streamed> {
  const { operation, parsed } = request;
  const place = request.isUselessOpen ? requirePlace(call) : undefined;
  let isStreamed = false;
  try {
    const idempotencyKey = call.idempotencyKey ?? (await joinRepeated(http, call, request.repeat));
    const context = createRequestContext(http, call, operation, idempotencyKey);
    if (operation.events) return await findEvents(context, operation, parsed.input);
    const callInContext = { ...call, context, place };
    const outcome = operation.handle
      ? await respondToQuery(http, callInContext, request, stream)
      : await startRun(http, callInContext, request, stream);
    isStreamed = outcome.kind === "streamed";
    return outcome;
  } finally {
    if (!isStreamed) place?.release();
  }
}

/** Data of the caller's tenant only, except for the operator. */
export const createRequestContext = (
  { runs, cursors, callers: { admission } }: Pick<HttpServices, "runs" | "cursors" | "callers">,
  { caller, requestId, admitted, onReplay, onRunAccepted }: Call,
  operation: Operation,
  idempotencyKey?: string,
): RequestContext => ({
  ...{ caller, requestId, cursors, idempotencyKey },
  database: isOperatorOperation(operation) ? runs.database : scopeToCaller(runs.database, caller),
  storageLimits: admission.resolveStorageLimits(caller),
  onReplay() {
    onReplay?.();
    admitted.refundRequestRateLimit();
  },
  onRunAccepted: (runId) => onRunAccepted?.(runId),
});

/** The idempotency key of the earlier request that this one repeats, or a new one. */
async function joinRepeated(
  { clientRequests, runs }: HttpServices,
  { caller, outgoing }: Call,
  repeat: OperationRequest["repeat"],
): Promise<string | undefined> {
  if (!repeat) return undefined;
  const joined = await clientRequests.join({ caller, ...repeat });
  trackDelivery(outgoing, joined, runs.log);
  return joined.idempotencyKey;
}

/** The stream of one run, named in the path, ends with the run. Any other stream is only filtered by `run_id`. */
async function findEvents(request: RequestContext, operation: Operation, input: JsonObject): Promise<Outcome> {
  const filter = operation.events!(input);
  const run = filter.run_id === undefined ? undefined : await requireOwnRun(request, filter.run_id);
  const isOfRun = operation.http.path.includes(":run_id");
  return { kind: "events", filter, request, ...(isOfRun && run && { run }) };
}

type CallWithContext = Call & { context: RequestContext; place?: Place | undefined };

async function startRun(
  http: HttpServices,
  call: CallWithContext,
  request: OperationRequest,
  stream: StreamRun,
): Promise<Outcome | Streamed> {
  const { row, isReplay } = await acceptNewRun(http, call, request);
  if (isReplay) call.onReplay?.();
  call.onRunAccepted?.(row.run_id);
  const { context, place } = call;
  const wait = () => waitForRun(http, call, row, request.wait);
  const response = await stream({ runId: row.run_id, request: context, wait, release: () => place?.release() });
  if (response) return { kind: "streamed", response };
  const ended = await wait();
  http.runs.crashPoint("answering");
  return { kind: "run", row: ended, request: context };
}

async function acceptNewRun(
  { runs }: Pick<HttpServices, "runs">,
  { context, admitted }: CallWithContext,
  { operation, parsed, isStrict = false, checkEstimate, identity: ownIdentity }: OperationRequest,
): Promise<AcceptedRun> {
  const { database, caller, idempotencyKey, storageLimits } = context;
  const { openRunLimits, consumeRunRateLimit: consumeRateLimit } = admitted;
  const options = {
    ...{ idempotencyKey, isStrict, consumeRateLimit, openRunLimits, storageLimits },
    ...(checkEstimate && { checkEstimate }),
  };
  const services = { ...runs, database };
  const identity = ownIdentity ?? { operation: operation.name, input: parsed.provided };
  const accepting = operation.repeatRun
    ? repeatRun(services, caller, { ...options, ...operation.repeatRun(parsed.input), identity })
    : acceptRun(services, caller, { ...options, operation, parsed, identity });
  const accepted = await accepting.catch((thrown) => {
    admitted.refundRunRateLimit();
    throw thrown;
  });
  // A replay is not counted, even if it was found only after a concurrent request had inserted the run.
  if (accepted.isReplay) {
    admitted.refundRunRateLimit();
    admitted.refundRequestRateLimit();
  }
  admitted.endAdmission();
  return accepted;
}

/** A query that returns a run can wait for its end, too. */
async function respondToQuery(
  http: HttpServices,
  call: CallWithContext,
  { operation, parsed: { input }, wait }: OperationRequest,
  stream: StreamRun,
): Promise<Outcome | Streamed> {
  let newRunId: string | undefined;
  const request: RequestContext = {
    ...call.context,
    onRunAccepted(runId) {
      newRunId = runId;
      call.context.onRunAccepted(runId);
    },
  };
  const services: QueryServices = { ...http.queries, database: request.database };
  const respond = () => operation.handle!(input, request as never, services as never) as Promise<JsonObject>;
  const body = await respond();
  if (newRunId !== undefined) {
    const runId = newRunId;
    const waitForNew = async () => waitForRun(http, call, await requireOwnRun(request, runId), wait);
    const response = await stream({ runId, request, wait: waitForNew, release() {} });
    if (response) return { kind: "streamed", response };
  }
  const isRun = operation.output === Run && operation.http.method === "GET";
  const current = isRun ? await waitForEnd(http, call, body as Run, { seconds: wait.seconds }, respond) : body;
  return { kind: "body", body: current, isOfNewRun: newRunId !== undefined, request };
}

/** Returns the run after at most so many seconds. A client that disconnects ends the wait, not the run. */
export const waitForRun = (http: HttpServices, call: CallWithContext, row: RunRow, wait: Wait): Promise<RunRow> =>
  waitForEnd(http, call, row, wait, () => requireOwnRun(call.context, row.run_id)) as Promise<RunRow>;

const PROGRESS_SECONDS = 1;

/** Without a free place among the waiting requests, it returns at once. */
async function waitForEnd<R extends JsonObject | RunRow>(
  { runs: { clock }, progress: { runWaiter } }: HttpServices,
  { admitted, signal, place: ownPlace }: Pick<CallWithContext, "admitted" | "signal" | "place">,
  run: R,
  { seconds, onProgress }: Wait<R>,
  readAgain: () => Promise<R>,
): Promise<R> {
  const { run_id } = run as { run_id: string };
  const isOpen = (each: R) => isRunOpen(each as { status: string });
  if (seconds <= 0 || !isOpen(run) || signal.aborted) return run;
  const place = ownPlace ?? findPlace(admitted);
  if (!place) return run;
  const end = clock.now() + seconds * 1000;
  let current = run;
  try {
    do {
      await onProgress?.(current);
      const left = Math.max(0, end - clock.now()) / 1000;
      await runWaiter.waitForEnd(run_id, onProgress ? Math.min(left, PROGRESS_SECONDS) : left, signal);
      current = await readAgain();
    } while (onProgress && isOpen(current) && !signal.aborted && clock.now() < end);
    return current;
  } finally {
    if (!ownPlace) place.release();
  }
}

/** A place among the waiting requests. It can be released twice. */
type Place = { release(): void };

function findPlace(admitted: AdmittedRequest): Place | undefined {
  let release = admitted.acquireWaitSlot();
  return (
    release && {
      release() {
        release?.();
        release = undefined;
      },
    }
  );
}

const RETRY_SECONDS = 5;

/** A run whose request cannot wait would be paid for and not returned. */
function requirePlace({ admitted }: Call): Place {
  const place = findPlace(admitted);
  if (!place) throw new Fault("rate_limited", { policy: "waiters", retry_after: RETRY_SECONDS });
  return place;
}
