// OpenAI's image API as a dialect of the pipeline: translates the request of a client to an operation, waits for the
// run and responds with its images, never with an open run.
import { readFile } from "node:fs/promises";
import { ReadableStream } from "node:stream/web";
import type { Context } from "hono";
import { isFilePart } from "../../contract/files.ts";
import { decodeInlineImage } from "../../contract/image-fields.ts";
import type { Operation } from "../../contract/operation.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";
import { generateImage } from "../../operations/images/generate.ts";
import { varyImage } from "../../operations/images/vary.ts";
import { editForOpenAi } from "../../operations/openai/edit.ts";
import { isRunOpen } from "../../runs/show/render-run.ts";
import type { StagingDependencies } from "../../runs/sources/stage-inline-files.ts";
import { faultOfFailedRun } from "../downloads/image-response.ts";
import type { HttpServices } from "../http-services.ts";
import type { Dialect, HttpCall, Outcome, PendingRun, Translation } from "../pipeline.ts";
import { parsePreferHeader } from "../prefer.ts";
import {
  type BodyRules,
  formBytesWithFiles,
  type RequestInput,
  readBody,
  rejectUnstorableText,
} from "../read-request.ts";
import { type ClientBody, type ClientImage, contentOf, issueAt, MAX_IMAGES, parseClientBody } from "./client-body.ts";
import { writeImageEvents } from "./image-events.ts";
import { type ClientImageFormat, listImages, openImages, writeCompletedEvent, writeImages } from "./image-result.ts";
import { createModelNames } from "./model-names.ts";
import { respondWithOpenAiError, unusedFieldsFault } from "./openai-error.ts";
import { type Endpoint, toOperation } from "./to-operation.ts";

/** A proxy or a NAT forgets a connection that carries nothing. Probes keep it, and find a client that is gone. */
const TCP_KEEP_ALIVE_MS = 30_000;
const MAX_FILES = MAX_IMAGES + 2;

type EndpointRules = {
  /** Whose scopes and admission the endpoint has. */
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

/** A request of this dialect, with the form of its response. */
type ImageRequest = Translation & { isStream: boolean; format: ClientImageFormat };

export function createImageDialect(http: HttpServices, endpoint: Endpoint): Dialect<ImageRequest> {
  const { runs } = http;
  const { operation, body: rules } = ENDPOINTS[endpoint];
  return {
    operation,
    read: (context, admission) => readBody(context, rules, admission),
    translate: (input, call) => translate(http, endpoint, input, call),
    wait: () => ({ seconds: runs.settings.timeouts.clientWaitSeconds }),
    onRunAccepted: (_runId, { env }) => env.incoming.socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS),
    stream: (run, { isStream, format }, { context }) =>
      isStream ? respondWithEvents(http, context, { ...run, type: ENDPOINTS[endpoint].event, format }) : undefined,
    respond: (outcome, { format }, { context }) => respondWithImages(http, context, outcome, format),
    respondWithFault: (context, thrown) => respondWithOpenAiError(context, thrown, runs.log),
  };
}

async function translate(
  http: HttpServices,
  endpoint: Endpoint,
  { raw, body = "json" }: RequestInput,
  { context, caller }: HttpCall,
): Promise<ImageRequest> {
  if (body === "form") rejectUnstorableText(raw);
  const fields = parseClientBody(raw, body);
  const { isStrict } = parsePreferHeader(context.req.header("prefer"));
  const names = createModelNames(http.runs.providers.enabled);
  const { operation, input, unused, substitution } = toOperation(endpoint, fields, names);
  const allUnused = [...unused, ...listUnusedOfResponse(fields)];
  const refused = [...(substitution === undefined ? [] : ["model"]), ...allUnused];
  if (isStrict && refused.length > 0) throw unusedFieldsFault(refused);
  setUnusedFields(context, allUnused);
  const mask =
    endpoint === "edits" && fields.mask !== undefined && (await convertMask(http, caller.tenant_id, fields.mask));
  const content = contentOf(endpoint, raw);
  const isRetry = Number(context.req.header("x-stainless-retry-count") ?? 0) >= 1;
  return {
    ...{ operation, input: { ...input, ...(mask && { mask }) }, body: "json", isStrict },
    // A run whose request cannot wait would be paid for and not returned.
    isUselessOpen: true,
    repeat: { api: "openai", content, isRetry },
    identity: { operation: operation.name, input: content },
    ...{ isStream: fields.stream === true, format: formatOf(fields, substitution, allUnused) },
  };
}

/** A stream carries base64 only; a URL leads to the file as it is stored. */
const listUnusedOfResponse = ({ stream, response_format, output_format }: ClientBody): string[] => {
  if (response_format !== "url") return [];
  if (stream) return ["response_format"];
  return output_format === undefined ? [] : ["output_format"];
};

/** The clients of OpenAI hide headers, so the body has the warnings too. */
const formatOf = (
  { stream, response_format, output_format }: ClientBody,
  substitution: string | undefined,
  unused: readonly string[],
): ClientImageFormat => {
  const isUrl = response_format === "url" && !stream;
  const warnings = [
    ...(substitution === undefined ? [] : [substitution]),
    ...unused.map((name) => `${name} has no effect here.`),
  ];
  return { isUrl, outputFormat: isUrl ? undefined : output_format, warnings };
};

/** Names that a header cannot carry are replaced by a question mark. */
function setUnusedFields(context: Context, names: readonly string[]): void {
  if (names.length === 0) return;
  const shown = names.slice(0, 32).map((name) => (/^[\w.[\]-]{1,64}$/.test(name) ? name : "?"));
  context.header("gesso-unused-fields", shown.join(", "));
}

/** Throws if the run is still open: a client that repeats its request waits again. */
function requireEnded(row: RunRow): RunRow {
  if (isRunOpen(row)) throw new Fault("sync_timeout", { run_id: row.run_id });
  return row;
}

async function respondWithImages(
  { runs }: HttpServices,
  context: Context,
  outcome: Outcome,
  format: ClientImageFormat,
): Promise<Response> {
  if (outcome.kind !== "run") throw new Error(`OpenAI's clients cannot read ${outcome.kind}.`);
  const row = requireEnded(outcome.row);
  const failure = findFailure(row);
  if (failure) return respondWithOpenAiError(context, failure, runs.log, { isFinal: true });
  const services = { ...runs, database: outcome.request.database };
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

function respondWithEvents(
  { runs }: HttpServices,
  context: Context,
  { wait, release, request, type, format }: PendingRun & { type: string; format: ClientImageFormat },
): Response {
  const services = { ...runs, database: request.database };
  const events = writeImageEvents({
    async waitForEnd() {
      const row = requireEnded(await wait());
      const failure = findFailure(row);
      if (failure) throw failure;
      return row;
    },
    async *writeImages(row) {
      for (const image of listImages(row)) yield* writeCompletedEvent(services, { row, image, type }, format);
    },
    onEnd: release,
    clock: services.clock,
  });
  return context.body(ReadableStream.from(events) as globalThis.ReadableStream, 200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  });
}

/**
 * Converts the mask of an OpenAI client, whose transparent pixels mark the area to edit, to a mask of Gesso, where
 * white marks it. The pixels are decoded in an isolated process. Returns the mask as a data URL.
 */
async function convertMask(
  { runs: { images, fileTurns } }: { runs: Pick<StagingDependencies, "images" | "fileTurns"> },
  tenantId: string,
  mask: ClientImage,
): Promise<string> {
  const convert = async () => {
    const bytes = isFilePart(mask) ? await readFile(mask.path) : decodeInlineImage(mask);
    if (!bytes) throw invalidMask("invalid_type", "Must be a file or a data URL of a PNG or WebP image.");
    return images.maskFromTransparency(bytes).catch((thrown) => {
      // A client must see that the mask is meant, and not the image.
      throw thrown instanceof Fault && thrown.status < 500 ? invalidMask(thrown.code, thrown.message) : thrown;
    });
  };
  const converted = await fileTurns.take(tenantId, isFilePart(mask) ? mask.size_bytes : mask.length, convert);
  if (!converted) throw invalidMask("invalid_value", "Has no transparent pixels. They mark the area to edit.");
  return `data:image/png;base64,${Buffer.from(converted).toString("base64")}`;
}

const invalidMask = (code: string, message: string) =>
  new Fault("validation_error", { errors: [issueAt("mask", code, message)] });
