// Builds one small request for every operation that creates a run, from the registry of operations, so that tests of
// "every operation" include new ones.
import sharp from "sharp";
import type { BodyKind } from "../../src/contract/operation.ts";
import { operations } from "../../src/operations/all.ts";
import type { ApiResponse } from "../support/api-caller.ts";
import { exampleWithRun } from "../support/operation-plans.ts";
import { drawScene } from "../support/scene.ts";
import type { Suite } from "./suite.ts";

type Fields = Record<string, unknown>;
export type RunRequest = {
  name: string;
  path: string;
  run_type: string;
  fields: Fields;
  bodies: BodyKind[];
  /** The response is the image itself, unless JSON is accepted. */
  returnsImage: boolean;
};

/** A mask of the size of the scene: white on the left half, black on the right. */
export const leftHalfMask = async (width = 128, height = 96): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: "#000000" } })
    .composite([
      { input: { create: { width: width / 2, height, channels: 3, background: "#ffffff" } }, left: 0, top: 0 },
    ])
    .png()
    .toBuffer();

export const asDataUrl = (bytes: Buffer, type = "png") => `data:image/${type};base64,${bytes.toString("base64")}`;

/** Small fields for each operation, by name. `run` is a run that holds the scene. */
async function sampleFields(run: string): Promise<Record<string, Fields>> {
  const image = await drawScene();
  const mask = asDataUrl(await leftHalfMask());
  const edit = { prompt: "make it night" };
  return {
    "images.generate": { prompt: "a boat", width: 64, height: 64 },
    "runs.create": { model: "sandbox:replay/studio", input: { prompt: "make it night", image_urls: [run] } },
    "images.upload": { file: image },
    "images.uploadMask": { file: image },
    "images.segmentImage": { prompt: "the red circle", run_id: run },
    "images.removeBackground": { run_id: run },
    "images.backgroundRemove": { run_id: run },
    "images.genRemove": { prompt: "the red circle", run_id: run },
    "images.extract": { prompt: "the red circle", run_id: run },
    "images.reframe": { aspect_ratio: "1:1", run_id: run },
    "images.upscale": { factor: 2, run_id: run },
    "images.vary": { n: 1, seed: 7, run_id: run },
    "images.edit": { ...edit, image: run, n: 1 },
    "images.edit.vendora": { ...edit, run_id: run, n: 1 },
    "images.edit.fluxKontext": { ...edit, original_run_id: run, model: "flux-kontext-max" },
    "images.edit.nanobanana": { ...edit, run_id: run },
    "images.edit.gemini25": { ...edit, run_id: run },
    "images.combine": { images: [run, run], gap: 4 },
    "images.combine.nanobanana": { prompt: "both", run_ids: [run, run] },
    "images.combine.gemini25": { prompt: "both", run_ids: [run, run] },
    "images.character": { prompt: "reading", character_reference_run_id: run, resolution: "720" },
    "images.reference": { prompt: "@hero", images: [{ image_reference: run, tag: "hero" }] },
    "images.describe": { run_id: run, detail: "short" },
    "edit.maskImage": { original_image_url: run, mask_image_url: mask },
    generateVideo: { source_run_id: run, duration: 1, fps: 2 },
    "videos.generate": { prompt: edit.prompt, image: run, duration: 1, fps: 2 },
    "prompts.enhance": { prompt: "a cat" },
  };
}

const UPLOAD_RUN_TYPES: Record<string, string> = { "images.upload": "upload", "images.uploadMask": "mask-upload" };

/** The operations of the registry that create a run: those with a plan, and uploads. */
export const runOperations = operations.filter(({ name, plan }) => plan !== undefined || name in UPLOAD_RUN_TYPES);

/** A request for every operation that creates a run: small sample fields, or the operation's own example. */
export async function runRequests(run: string): Promise<RunRequest[]> {
  const samples = await sampleFields(run);
  return runOperations.map(({ name, http: { path, bodies = [] }, run_type, example, responseKind, fixedValues }) => {
    const fields = samples[name] ?? exampleWithRun(example, run);
    return {
      ...{ name, path, bodies, fields: { ...fields, ...fixedValues } },
      run_type: run_type ?? UPLOAD_RUN_TYPES[name]!,
      returnsImage: responseKind === "image",
    };
  });
}

/** Encodes fields as a form: files and strings unchanged, everything else as JSON. */
export const formOf = (suite: Suite, fields: Fields): FormData =>
  suite.form(
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        const isPart = typeof value === "string" || Buffer.isBuffer(value) || isFiles(value);
        return [name, isPart ? (value as string) : JSON.stringify(value)];
      }),
    ),
  );

const isFiles = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((each) => Buffer.isBuffer(each));

/** Sends JSON if the operation accepts it. Accepts JSON, so operations that return an image respond with the run. */
export function sendRun(
  suite: Suite,
  { path, fields, bodies }: RunRequest,
  more: Fields = {},
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  const all = { ...fields, ...more };
  const body = bodies.includes("json") ? all : formOf(suite, all);
  return suite.caller.post(path, body, { accept: "application/json", ...headers });
}

/** The run that a response refers to, and whether the response shows it as unfinished. */
export function readRunRef({ body }: ApiResponse): { run_id: string; isOpen: boolean } {
  const status: string | undefined = body.status ?? body.data?.status;
  const isOpen = status === undefined ? body.url === null : ["queued", "processing"].includes(status);
  return { run_id: body.run_id ?? body.data?.run_id ?? body.runId, isOpen };
}

/** The validation errors of a response, each as `path code`. */
export const fieldErrors = ({ body }: ApiResponse): string[] =>
  (body.details?.errors ?? []).map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);

/** The `success` field of a response, also of an error response for which the client threw. */
export const envelopeSuccess = ({ body, errorBody = body }: ApiResponse): unknown => errorBody.success;

export const statusAndCode = ({ status, body }: Pick<ApiResponse, "status" | "body">) => [status, body.code];

export type ContractOperation = {
  method: string;
  path: string;
  operationId: string;
  bodies: string[];
  example: Record<string, unknown>;
};

/** The operations in the OpenAPI document of the running server; path parameters are filled with an unknown ID. */
export async function fetchContractOperations(suite: Suite): Promise<ContractOperation[]> {
  const { body } = await suite.caller.send("GET", "/openapi.json");
  return Object.entries(body.paths as Record<string, Record<string, any>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, requestBody }]) => ({
      ...{ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, UNKNOWN_ID), operationId },
      bodies: Object.keys(requestBody?.content ?? {}),
      example: requestBody?.content["application/json"]?.example ?? {},
    })),
  );
}

export const UNKNOWN_ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
