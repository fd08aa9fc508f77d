// One small request of every operation that makes a run, so that what holds for all of them can be asked of all of them.
import sharp from "sharp";
import type { ApiResponse } from "../support/api-caller.ts";
import { drawScene, type Suite } from "./suite.ts";

type Fields = Record<string, unknown>;
export type RunRequest = { name: string; path: string; run_type: string; fields: Fields; bodies: ("json" | "form")[] };

/** White on the left half, black on the right: as large as the scene. */
export const leftHalfMask = async (width = 128, height = 96): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: "#000000" } })
    .composite([
      { input: { create: { width: width / 2, height, channels: 3, background: "#ffffff" } }, left: 0, top: 0 },
    ])
    .png()
    .toBuffer();

export const asDataUrl = (bytes: Buffer, type = "png") => `data:image/${type};base64,${bytes.toString("base64")}`;

/** `run` is a run that holds the scene. */
export async function runRequests(run: string): Promise<RunRequest[]> {
  const picture = await drawScene();
  const mask = asDataUrl(await leftHalfMask());
  const all: [name: string, path: string, run_type: string, fields: Fields, bodies: string][] = [
    ["generate", "/runs/generate", "image-generation", { prompt: "a boat", width: 64, height: 64 }, "json"],
    ["upload", "/upload", "upload", { file: picture }, "form"],
    ["uploadMask", "/upload", "mask-upload", { file: picture, isMask: true }, "form"],
    ["segment", "/edits/segment", "segment", { prompt: "the red circle", run_id: run }, "json"],
    ["remove-bg", "/edits/remove-bg", "background-removal", { run_id: run }, "json"],
    ["background-remove", "/edits/background-remove", "background-removal", { run_id: run }, "json"],
    [
      ...(["generative-remove", "/edits/generative-remove", "generative-remove"] as const),
      ...([{ prompt: "the red circle", run_id: run }, "json"] as const),
    ],
    ["extract", "/edits/extract", "extract", { prompt: "the red circle", run_id: run }, "json"],
    ["reframe", "/edits/reframe", "reframe", { aspect_ratio: "1:1", run_id: run }, "json form"],
    ["edit vendora", "/edits/vendora", "image-edit", { prompt: "make it night", run_id: run, n: 1 }, "json form"],
    [
      ...(["edit flux-kontext", "/edits/flux-kontext", "image-edit"] as const),
      ...([{ prompt: "make it night", original_run_id: run, model: "flux-kontext-max" }, "json form"] as const),
    ],
    ["edit nanobanana", "/edits/nanobanana", "image-edit", { prompt: "make it night", run_id: run }, "json form"],
    ["edit gemini-2.5", "/edits/gemini-2.5", "image-edit", { prompt: "make it night", run_id: run }, "json form"],
    ["combine", "/combine", "combine", { images: [run, run], gap: 4 }, "json form"],
    ["combine nanobanana", "/combine/nanobanana", "combine", { prompt: "both", run_ids: [run, run] }, "json form"],
    ["combine gemini-2.5", "/combine/gemini-2.5", "combine", { prompt: "both", run_ids: [run, run] }, "json form"],
    [
      ...(["character", "/runs/character", "character-generation"] as const),
      ...([{ prompt: "reading", character_reference_run_id: run, resolution: "720" }, "json form"] as const),
    ],
    [
      ...(["reference", "/runs/reference", "reference-generation"] as const),
      ...([{ prompt: "@hero", images: [{ image_reference: run, tag: "hero" }] }, "json form"] as const),
    ],
    ["describe", "/images/describe", "describe", { run_id: run, detail: "short" }, "json form"],
    ["mask edit", "/edits/mask", "mask-edit", { original_image_url: run, mask_image_url: mask }, "json form"],
    ["video", "/runs/video", "video-generation", { source_run_id: run, duration: 1, fps: 2 }, "json"],
    ["enhance", "/prompts/enhance", "prompt-enhancement", { prompt: "a cat" }, "json"],
  ];
  return all.map(([name, path, run_type, fields, bodies]) => ({
    ...{ name, path, run_type, fields },
    bodies: bodies.split(" ") as RunRequest["bodies"],
  }));
}

/** Fields as a form has them: files and text as they are, everything else as JSON text. */
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

/** Sends it as JSON where it takes JSON. Binary operations are asked for their run unless another `accept` is given. */
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

/** Which run an answer speaks of, and in which state it shows it. */
export function readRunRef({ body }: ApiResponse): { run_id: string; isOpen: boolean } {
  const status: string | undefined = body.status ?? body.data?.status;
  const isOpen = status === undefined ? body.url === null : ["queued", "processing"].includes(status);
  return { run_id: body.run_id ?? body.data?.run_id ?? body.runId, isOpen };
}

/** The misfits that a refusal tells, each as `path code`. */
export const fieldErrors = ({ body }: ApiResponse): string[] =>
  (body.details?.errors ?? []).map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);

/** What an envelope says of itself. The client raises a refusal instead of showing its envelope. */
export const envelopeSuccess = ({ isClientError: isRaised, body }: ApiResponse): unknown => !isRaised && body.success;

export const statusAndCode = ({ status, body }: Pick<ApiResponse, "status" | "body">) => [status, body.code];

export type ContractOperation = {
  method: string;
  path: string;
  operationId: string;
  bodies: string[];
  example: Record<string, unknown>;
};

/** The operations as the running service prints them; path parameters are filled with an unknown id. */
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
