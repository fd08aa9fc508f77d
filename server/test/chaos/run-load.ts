// Clients of a campaign: each posts one run under one idempotency key, retries until it has a response, and may cancel
// the run later.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { drawTestImage } from "../fake-vendors/result-files.ts";
import type { TestEnvironment } from "../support/test-environment.ts";

/**
 * How a vendor can be asked about a lost response: by our idempotency key (A), by look-up (B), not at all, but it calls
 * back (C), or not at all and it responds only with the finished image (D).
 */
export const MODEL_BY_RECOVERY_CLASS = {
  A: "flux-dev",
  B: "qwen-image-edit",
  C: "vendora",
  D: "vendorc",
} as const;
/** Of the sandbox, with the recovery of their class. */
export const IMPORTED_MODELS = {
  A: "sandbox:replay/studio",
  B: "sandbox:find/studio",
  C: "sandbox:blind/studio",
} as const;
export type RecoveryClass = keyof typeof MODEL_BY_RECOVERY_CLASS;
export const RECOVERY_CLASSES = Object.keys(MODEL_BY_RECOVERY_CLASS) as RecoveryClass[];

export type RunRequestSpec = {
  class: RecoveryClass;
  prompt: string;
  /** Number of images. Class A makes one image per request. Default: 1. */
  count?: number;
  /** Width and height in pixels. Default: 64. Class D has a size of its own. */
  side?: number;
  /** Upscales an image that the request contains as base64. Only class A does. */
  hasInlineImage?: boolean;
  /** An imported model does the work, with its own parameters. Not for class D. */
  isImported?: boolean;
  cancelAfterMs?: number;
};

export type PostedRun = Pick<RunRequestSpec, "class"> & {
  run_id: string;
  /** A word of the prompt that no other prompt contains. */
  word: string;
  count: number;
  isCancelRequested: boolean;
  /** In milliseconds, as the times of refusals. */
  acceptedAt: number;
  refusals: Refusal[];
};

/** A request that the API did not accept. The client sent it again. */
export type Refusal = { at: number; status: string };

export async function postRun(
  environment: TestEnvironment,
  order: RunRequestSpec,
  timeoutSeconds = 180,
): Promise<PostedRun> {
  const key = randomUUID();
  const word = `w${key.replaceAll("-", "")}`;
  const request = await buildRequest(order, word);
  const until = Date.now() + timeoutSeconds * 1000;
  for (const refusals: Refusal[] = []; ; ) {
    const { run_id, status } = await postOnce(environment, request, key);
    if (run_id) {
      const acceptedAt = Date.now();
      const isCancelRequested = order.cancelAfterMs !== undefined;
      if (isCancelRequested) await cancelRun(environment, run_id, order.cancelAfterMs!);
      const { class: recoveryClass, count = 1 } = order;
      return { run_id, word, class: recoveryClass, count, isCancelRequested, acceptedAt, refusals };
    }
    refusals.push({ at: Date.now(), status });
    if (Date.now() > until) throw new Error("the API did not accept the run in time");
    await pause(150);
  }
}

type RunRequest = { path: string; body: Record<string, unknown> };

async function buildRequest(order: RunRequestSpec, word: string): Promise<RunRequest> {
  if (order.hasInlineImage) {
    const image = await drawTestImage(word, 48, 48);
    return { path: "/edits/upscale", body: { image_url: `data:image/png;base64,${image.toString("base64")}` } };
  }
  const { side = 64 } = order;
  const prompt = `${order.prompt} ${word}`;
  if (order.isImported && order.class !== "D")
    return {
      path: "/runs",
      body: { model: IMPORTED_MODELS[order.class], input: { prompt, width: side, height: side } },
    };
  const body = { prompt, model_type: MODEL_BY_RECOVERY_CLASS[order.class] };
  const size = { width: side, height: side, ...(order.count !== undefined && { batch_size: order.count }) };
  return { path: "/runs/generate", body: order.class === "D" ? body : { ...body, ...size } };
}

async function postOnce(
  environment: TestEnvironment,
  { path, body }: RunRequest,
  key: string,
): Promise<{ run_id?: string; status: string }> {
  const response = await send(environment, path, { body, headers: { "idempotency-key": key } });
  if (!response) return { status: "no response" };
  const { run_id, code } = (await response.json().catch(() => ({}))) as { run_id?: string; code?: string };
  const status = `${response.status} ${code ?? ""}`.trim();
  if (response.status > 202 && response.status < 500) throw new Error(`refused: ${status}`);
  return { ...(run_id !== undefined && response.ok && { run_id }), status };
}

async function cancelRun(environment: TestEnvironment, runId: string, afterMs: number): Promise<void> {
  await pause(afterMs);
  for (let tries = 0; tries < 100; tries++) {
    const response = await send(environment, `/runs/${runId}/cancel`, {});
    if (response && response.status < 500) return;
    await pause(150);
  }
}

/** Returns undefined if there was no response. */
const send = (
  environment: TestEnvironment,
  path: string,
  { body, headers }: { body?: unknown; headers?: Record<string, string> },
): Promise<Response | undefined> =>
  fetch(`${environment.url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${environment.key}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  }).catch(() => undefined);

/** Posts runs one after the other at a steady rate until stopped. */
export async function postWhile(
  environment: TestEnvironment,
  goesOn: () => boolean,
  perSecond: number,
  orderOf: (index: number) => RunRequestSpec,
  timeoutSeconds?: number,
): Promise<PostedRun[]> {
  const posts: Promise<PostedRun>[] = [];
  const startedAt = Date.now();
  for (let index = 0; goesOn(); index++) {
    const post = postRun(environment, orderOf(index), timeoutSeconds);
    // A failure is reported below, after the campaign has stopped its processes.
    post.catch(() => {});
    posts.push(post);
    await pause(Math.max(0, startedAt + ((index + 1) * 1000) / perSecond - Date.now()));
  }
  return Promise.all(posts);
}

export function postAtRate(
  environment: TestEnvironment,
  orders: RunRequestSpec[],
  perSecond: number,
): Promise<PostedRun[]> {
  let left = orders.length;
  return postWhile(
    environment,
    () => left-- > 0,
    perSecond,
    (index) => orders[index]!,
  );
}

export async function countOpenRuns(environment: TestEnvironment): Promise<number> {
  const rows = await environment
    .query<{ count: number }>("select count(*)::int from open_runs")
    .catch(() => [{ count: -1 }]);
  return rows[0]!.count;
}

/** Runs of imported models. */
export async function countImported(environment: TestEnvironment): Promise<number> {
  const rows = await environment.query<{ count: number }>(
    "select count(*)::int from runs where operation = 'runs.create'",
  );
  return rows[0]!.count;
}

export async function waitUntilAllEnded(environment: TestEnvironment, seconds: number): Promise<void> {
  const until = Date.now() + seconds * 1000;
  while ((await countOpenRuns(environment)) !== 0) {
    if (Date.now() > until) return;
    await pause(500);
  }
}
