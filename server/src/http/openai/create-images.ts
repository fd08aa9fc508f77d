// Creates images for OpenAI's clients. The steps are those of the public API: authenticate, admit, authorize, parse,
// accept a run. Then the request waits for the run and responds with its images, never with an open run.
import { ReadableStream } from "node:stream/web";
import type { Context } from "hono";
import { type RequestContext, scopeToCaller } from "../../access/request-context.ts";
import { authorize } from "../../access/scopes.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { Fault } from "../../faults.ts";
import type { BodyKind, Operation } from "../../kit/operation.ts";
import { parseInput } from "../../kit/parse.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";
import { requireOwnRun } from "../../library/operation-services.ts";
import { generateImage } from "../../operations/images/generate.ts";
import { varyImage } from "../../operations/images/vary.ts";
import { editForOpenAi } from "../../operations/openai/edit.ts";
import { isRunOpen } from "../../runs/render-run.ts";
import { type AdmittedRequest, admitRequest } from "../admission.ts";
import { credentialsOf } from "../credentials.ts";
import { readIdempotencyKey } from "../error-response.ts";
import type { HttpServices } from "../http-services.ts";
import { faultOfFailedRun } from "../image-response.ts";
import { parsePreferHeader } from "../prefer.ts";
import {
  type BodyRules,
  formBytesWithFiles,
  type HttpBindings,
  readBody,
  rejectUnstorableText,
} from "../read-request.ts";
import { acceptNewRun } from "../run-operation.ts";
import { trackDelivery } from "../track-delivery.ts";
import { type ClientBody, MAX_IMAGES, parseClientBody } from "./client-body.ts";
import { contentOf } from "./client-content.ts";
import { convertMask } from "./convert-mask.ts";
import { writeImageEvents } from "./image-events.ts";
import { type ClientImageFormat, listImages, openImages, writeCompletedEvent, writeImages } from "./image-result.ts";
import { createModelNames } from "./model-names.ts";
import { respondWithOpenAiError, unusedFieldsFault } from "./openai-error.ts";
import { type Endpoint, toOperation } from "./to-operation.ts";

/** A proxy or a NAT forgets a connection that carries nothing. Probes keep it, and find a client that is gone. */
const TCP_KEEP_ALIVE_MS = 30_000;
const RETRY_SECONDS = 5;
const MAX_FILES = MAX_IMAGES + 2;

type EndpointRules = {
  /** Whose scope and admission the endpoint has. */
  operation: Operation;
  body: BodyRules;
  event: string;
};

const FILES = { acceptsInline: true, maxFormBytes: formBytesWithFiles(MAX_FILES), maxFiles: MAX_FILES };

const ENDPOINTS: Record<Endpoint, EndpointRules> = {
  generations: {
    operation: generateImage,
    body: { ...FILES, bodies: ["json"], acceptsInline: false },
    event: "image_generation.completed",
  },
  edits: {
    operation: editForOpenAi,
    body: { ...FILES, bodies: ["form", "json"] },
    event: "image_edit.completed",
  },
  variations: {
    operation: varyImage,
    body: { ...FILES, bodies: ["form", "json"] },
    event: "image_edit.completed",
  },
};

type ImageCall = {
  endpoint: Endpoint;
  context: Context<HttpBindings>;
  request: RequestContext;
  admitted: AdmittedRequest;
};

export async function createImages(
  http: HttpServices,
  endpoint: Endpoint,
  context: Context<HttpBindings>,
): Promise<Response> {
  const { operation, body: rules } = ENDPOINTS[endpoint];
  const caller = await http.authenticator.authenticate(credentialsOf(http, context));
  const admitted = await admitRequest(http.admission, { caller, operation }, context);
  try {
    authorize(caller, operation);
    const request: RequestContext = {
      caller,
      requestId: context.res.headers.get("x-request-id") ?? "",
      database: scopeToCaller(http.runs.database, caller),
      cursors: http.cursors,
      storageLimits: http.admission.resolveStorageLimits(caller),
      idempotencyKey: readIdempotencyKey(context.env.incoming.rawHeaders),
      onReplay() {},
      onRunAccepted() {},
    };
    const { raw, body, discard } = await readBody(context, rules, admitted.body);
    try {
      return await createImagesOf(http, { endpoint, context, request, admitted }, raw, body);
    } finally {
      await discard();
    }
  } finally {
    admitted.endAdmission();
  }
}

async function createImagesOf(http: HttpServices, call: ImageCall, raw: JsonObject, body: BodyKind): Promise<Response> {
  const { endpoint, context, admitted } = call;
  if (body === "form") rejectUnstorableText(raw);
  const fields = parseClientBody(raw, body);
  const prefer = parsePreferHeader(context.req.header("prefer"));
  const { operation, input, unused } = toOperation(endpoint, fields, createModelNames(http.runs.providers.enabled));
  const allUnused = [...unused, ...listUnusedOfResponse(fields)];
  if (prefer.isStrict && allUnused.length > 0) throw unusedFieldsFault(allUnused);
  setUnusedFields(context, allUnused);
  const mask =
    endpoint === "edits" &&
    fields.mask !== undefined &&
    (await convertMask(http, call.request.caller.tenant_id, fields.mask));
  const parsed = parseInput(operation, { ...input, ...(mask && { mask }) }, "json");
  admitted.endParsing();

  // Before the run is accepted: a run whose request cannot wait would be paid for and not returned.
  const releaseSlot = admitted.acquireWaitSlot();
  if (!releaseSlot) throw new Fault("rate_limited", { policy: "waiters", retry_after: RETRY_SECONDS });
  let isStreaming = false;
  try {
    const content = contentOf(endpoint, raw);
    const idempotencyKey = call.request.idempotencyKey ?? (await joinRequest(http, call, content));
    const identity = { operation: operation.name, input: content };
    const request = { ...call.request, idempotencyKey };
    const accepted = await acceptNewRun(http, { operation, request, admitted, prefer, identity }, parsed);
    context.header("x-run-id", accepted.row.run_id);
    if (accepted.isReplay) context.header("idempotent-replayed", "true");
    context.env.incoming.socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    if (fields.stream) {
      isStreaming = true;
      return respondWithEvents(http, call, { row: accepted.row, format: formatOf(fields), releaseSlot });
    }
    return await respondWithImages(http, call, accepted.row, formatOf(fields));
  } finally {
    if (!isStreaming) releaseSlot();
  }
}

/** A stream carries base64 only; a URL leads to the file as it is stored. */
const listUnusedOfResponse = ({ stream, response_format, output_format }: ClientBody): string[] => {
  if (response_format !== "url") return [];
  if (stream) return ["response_format"];
  return output_format === undefined ? [] : ["output_format"];
};

const formatOf = ({ stream, response_format, output_format }: ClientBody): ClientImageFormat => {
  const isUrl = response_format === "url" && !stream;
  return { isUrl, outputFormat: isUrl ? undefined : output_format };
};

/** Names that a header cannot carry are replaced by a question mark. */
function setUnusedFields(context: Context, names: readonly string[]): void {
  if (names.length === 0) return;
  const shown = names.slice(0, 32).map((name) => (/^[\w.[\]-]{1,64}$/.test(name) ? name : "?"));
  context.header("gesso-unused-fields", shown.join(", "));
}

/** The idempotency key of this request, or of the earlier one that it repeats. */
async function joinRequest(http: HttpServices, { context, request }: ImageCall, content: JsonObject): Promise<string> {
  const isRetry = Number(context.req.header("x-stainless-retry-count") ?? 0) >= 1;
  const joined = await http.clientRequests.join({ caller: request.caller, api: "openai", content, isRetry });
  trackDelivery(context.env.outgoing, joined, http.runs.log);
  return joined.idempotencyKey;
}

/** Returns the run when it has ended. Throws if it is still open: a client that repeats its request waits again. */
async function waitForEnd(http: HttpServices, { context, request }: ImageCall, row: RunRow): Promise<RunRow> {
  if (!isRunOpen(row)) return row;
  const { clientWaitSeconds } = http.runs.settings.timeouts;
  await http.runWaiter.waitForEnd(row.run_id, clientWaitSeconds, context.req.raw.signal);
  const ended = await requireOwnRun(request, row.run_id);
  if (isRunOpen(ended)) throw new Fault("sync_timeout", { run_id: row.run_id });
  return ended;
}

async function respondWithImages(
  http: HttpServices,
  call: ImageCall,
  accepted: RunRow,
  format: ClientImageFormat,
): Promise<Response> {
  const { context, request } = call;
  const services = { ...http.runs, database: request.database };
  const row = await waitForEnd(http, call, accepted);
  const failure = findFailure(row);
  if (failure) return respondWithOpenAiError(context, failure, http.runs.log, { isFinal: true });
  const files = format.isUrl ? [] : await openImages(services, row);
  const body = ReadableStream.from(writeImages(services, { row, files }, format)) as globalThis.ReadableStream;
  return context.body(body, 200, {
    "content-type": "application/json",
    "cache-control": "no-store",
  });
}

const findFailure = (row: RunRow): Fault | undefined => {
  if (row.status !== "completed") return faultOfFailedRun(row);
  return listImages(row).length === 0 ? new Fault("provider_output_invalid", { run_id: row.run_id }) : undefined;
};

type StreamedImages = { row: RunRow; format: ClientImageFormat; releaseSlot(): void };

function respondWithEvents(
  http: HttpServices,
  call: ImageCall,
  { row: accepted, format, releaseSlot }: StreamedImages,
): Response {
  const services = { ...http.runs, database: call.request.database };
  const { event: type } = ENDPOINTS[call.endpoint];
  const events = writeImageEvents({
    async waitForEnd() {
      const row = await waitForEnd(http, call, accepted);
      const failure = findFailure(row);
      if (failure) throw failure;
      return row;
    },
    async *writeImages(row) {
      for (const image of listImages(row)) yield* writeCompletedEvent(services, { row, image, type }, format);
    },
    onEnd: releaseSlot,
    clock: services.clock,
  });
  return call.context.body(ReadableStream.from(events) as globalThis.ReadableStream, 200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  });
}
