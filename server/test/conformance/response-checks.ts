// Helpers of the conformance tests for responses: errors, bytes, pixels, and the sandbox ledger.
import { createHash, randomBytes } from "node:crypto";
import sharp from "sharp";
import { expect } from "vitest";
import type { ApiResponse } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import type { Installation } from "../support/shared-installation.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import type { Suite } from "./suite.ts";

/** A prompt that the provider accepts and then refuses, so that nothing is drawn where only the request matters. */
export const REFUSED_PROMPT = "[sandbox:refuse,delay=0] x";
/** A prompt with as little waiting as there can be. */
export const withoutDelay = (text: string) => `[sandbox:delay=0] ${text}`;

export const UNKNOWN_RUN_ID = "01990c3e-2f00-7000-8000-000000000000";

/** An error in one line: status, code, and each validation error as "path code". */
export const describeRefusal = ({ status, body }: ApiResponse): unknown[] => [
  status,
  body.code,
  ...(body.details?.errors ?? []).map((each: any) => `${each.path} ${each.code}`),
];

/** The fields of the document's Run, each of its kind. */
export function expectRun(run: any): void {
  expect(run).toMatchObject({
    run_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    user_id: expect.any(String),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    inputs: expect.any(Object),
    status: expect.any(String),
    progress: expect.any(Number),
    run_type: expect.any(String),
  });
  for (const field of ["image_url", "live_status", "parent_run_id"]) {
    expect(run).toHaveProperty(field);
    expect(run[field] === null || typeof run[field] === "string").toBe(true);
  }
}

/** The Run's fields, and the two that one example of the document reads under `data`. */
export function expectGeneration(run: any): void {
  expectRun(run);
  expect(run.data).toEqual({ run_id: run.run_id, image_url: run.image_url });
}

export const runIdOf = ({ body }: ApiResponse): string => body.run_id ?? body.data?.run_id ?? body.runId;

/** Sends a request that the provider refuses: accepted by the API and the provider, and ended without an image. */
export async function postRefused(suite: Suite, path: string, body: unknown): Promise<any> {
  const response = await suite.caller.post(path, body);
  expect([response.status, response.body.code]).toEqual([202, undefined]);
  const run = await suite.caller.waitUntilEnded(runIdOf(response));
  expect(run.error?.code).toBe("content_refused");
  return run;
}

/** Sends and waits for an image. */
export async function postAndWait(suite: Suite, path: string, body: unknown): Promise<any> {
  const response = await suite.caller.post(path, body);
  expect([response.status, response.body.code]).toEqual([expect.toBeOneOf([200, 202]), undefined]);
  const run = await suite.caller.waitUntilEnded(runIdOf(response));
  expect([run.status, run.error]).toEqual(["completed", null]);
  return run;
}

/** For operations that return the image itself. */
export async function postForBytes(suite: Suite, path: string, body: unknown): Promise<ApiResponse> {
  const response = await suite.caller.post(path, body);
  return { ...response, body: response.headers.get("content-type")?.includes("json") ? response.body : null };
}

export const fetchRun = async (suite: Suite, { headers }: { headers: Headers }): Promise<any> =>
  (await suite.caller.get(`/runs/${headers.get("x-run-id")}`)).body;

export const download = async (url: string): Promise<Buffer> => Buffer.from(await (await fetch(url)).arrayBuffer());

export type DecodedPixels = { width: number; height: number; channels: number; at(x: number, y: number): number[] };

/** Red, green, blue, alpha of every pixel; `channels` is what the file itself has. */
export async function decodePixels(bytes: Buffer): Promise<DecodedPixels> {
  const { channels } = await sharp(bytes).metadata();
  const image = sharp(bytes).toColourspace("srgb").ensureAlpha().raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)];
  return { width: info.width, height: info.height, channels, at };
}

/** How many pixels of `area` are not the same in both images. */
export function countDifferentPixels(
  one: DecodedPixels,
  other: DecodedPixels,
  area: (x: number, y: number) => boolean,
): number {
  let count = 0;
  for (let y = 0; y < one.height; y++) {
    for (let x = 0; x < one.width; x++) {
      if (area(x, y) && String(one.at(x, y)) !== String(other.at(x, y))) count++;
    }
  }
  return count;
}

export const listPixels = ({ width, height, at }: DecodedPixels): number[][] =>
  Array.from({ length: width * height }, (_, n) => at(n % width, Math.floor(n / width)));

export const solidImage = (background: string, width = 64, height = 64): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

/** Black on the left, white on the right. */
export const rightHalfMask = (width = 128, height = 96): Promise<Buffer> => {
  const data = Buffer.alloc(width * height).map((_, at) => (at % width < width / 2 ? 0 : 255));
  return sharp(data, { raw: { width, height, channels: 1 } })
    .toColourspace("b-w")
    .png()
    .toBuffer();
};

export const toDataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString("base64")}`;

export const findNewestRunId = async (suite: Suite): Promise<string | undefined> =>
  (await suite.caller.get("/runs?limit=1")).body.data[0]?.run_id;

export const callSandbox = (suite: Suite, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${suite.environment.sandboxUrl}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${suite.environment.sandboxKey}`, "content-type": "application/json" },
  });

/** Sets the behaviour of the sandbox for all jobs while `work` runs, in an installation of the file's own. */
export async function withSandboxBehaviour<T>(
  suite: Suite<TestEnvironment & Installation>,
  behaviour: object,
  work: () => Promise<T>,
): Promise<T> {
  const behave = (body: object) => callSandbox(suite, "/v1/behaviour", { method: "PUT", body: JSON.stringify(body) });
  expect((await behave(behaviour)).status).toBe(200);
  return work().finally(() => behave({}));
}

/** An image of its own whose jobs behave like this in the sandbox, for requests without a prompt. */
export async function imageWithBehaviour(suite: Suite, behaviour: object): Promise<{ url: string; bytes: Buffer }> {
  const ground = randomBytes(3).toString("hex");
  const bytes = await drawScene(undefined, undefined, `#${ground}`);
  const path = `/v1/behaviour?input=${sha256(bytes)}`;
  const response = await callSandbox(suite, path, { method: "PUT", body: JSON.stringify(behaviour) });
  expect(response.status).toBe(200);
  return { url: suite.imageUrl(`ground-${ground}.png`), bytes };
}

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** The requests that the sandbox received for a run; an image of a request is named by its SHA-256. */
export async function listSandboxRequests(suite: Suite, runId: string): Promise<any[]> {
  const { data } = (await (await callSandbox(suite, `/v1/ledger?reference=${runId}`)).json()) as { data: any[] };
  return data.map((job) => job.request);
}

/** The SHA-256 of each image in the only request that the sandbox received for a run, in the order of the request. */
export async function listSandboxImages(suite: Suite, runId: string): Promise<string[]> {
  const requests = await listSandboxRequests(suite, runId);
  expect(requests).toHaveLength(1);
  return requests[0].images.map(({ file }: { file: string }) => file);
}
