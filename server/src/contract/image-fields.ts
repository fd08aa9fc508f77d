// Images in inputs: a URL, base64, a run ID, an output of a run, a stored file, or a file of a form. This file alone
// decides which of them a value is.
import { z } from "zod";
import { type FilePart, isFilePart, STORED_ASSET } from "./files.ts";
import type { Source } from "./operation.ts";
import { RUN_OUTPUT_SCHEMA, RunOutputReference } from "./run-outputs.ts";
import type { JsonObject } from "./schemas/run.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const HTTP_URL = /^https?:\/\/\S+$/i;
const DATA = /^data:image\/(?:png|jpeg|webp);base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** The first bytes of PNG, JPEG and WebP, in base64. */
const MAGIC = /^(?:iVBORw0KGgo|\/9j\/|UklGR)/;
const MAX_BASE64 = 35 * 1024 * 1024;
const MAX_URL_LENGTH = 2048;
/** No field holds an image at a deeper level. The limit protects against deeply nested bodies. */
const MAX_DEPTH = 4;

/** `isImageReference` for the contract: JSON Schema has no patterns without case. */
export const IMAGE_REFERENCE_PATTERN = ((): string => {
  const eitherCase = (text: string) => text.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
  const type = ["png", "jpeg", "webp"].map(eitherCase).join("|");
  return [
    `^${eitherCase("http")}[Ss]?://\\S+$`,
    `^${eitherCase("data:image/")}(?:${type});${eitherCase("base64,")}`,
    "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
    STORED_ASSET.source,
    "^(?:iVBORw0KGgo|/9j/|UklGR)[A-Za-z0-9+/_-]*={0,2}$",
  ].join("|");
})();

const isInline = (text: string) => DATA.test(text) || (BASE64.test(text.slice(0, 512)) && MAGIC.test(text));
/** Whether a text is a source, or bytes that can become one. */
export const isImageReference = (text: string): boolean =>
  UUID.test(text) || HTTP_URL.test(text) || STORED_ASSET.test(text) || isInline(text);
const isTooLong = (text: string) => text.length > MAX_URL_LENGTH && HTTP_URL.test(text);

/** For the generated contract: the field holds an image, and base64 is accepted. */
const IMAGE_METADATA = { "x-widget": "image", "x-inline": true } as const;

/** An image as a URL, base64, a run ID or an output of a run; in a form also as a file. */
export const imageField = (description: string) =>
  z
    .union([
      z
        .string()
        .max(MAX_BASE64)
        .refine((text) => !isTooLong(text), {
          params: { code: "too_long" },
          error: `A URL must have at most ${MAX_URL_LENGTH} characters.`,
        })
        .refine(isImageReference, {
          params: { code: "ambiguous_reference" },
          error: "Must be a URL, a base64-encoded PNG, JPEG or WebP, or a run ID.",
        }),
      RunOutputReference,
      z.custom<FilePart>(isFilePart),
    ])
    .describe(description)
    .meta({ ...IMAGE_METADATA, anyOf: [{ type: "string", ...IMAGE_METADATA }, RUN_OUTPUT_SCHEMA] });

/** The bytes of a base64 image; undefined for any other value. */
export function decodeInlineImage(value: unknown): Buffer | undefined {
  if (typeof value !== "string" || !isInline(value)) return undefined;
  return Buffer.from(value.replace(DATA, ""), "base64");
}

/** Files and base64 images in an input, with their paths. They are stored before the run is planned. */
export function findInlineImages(input: JsonObject): { path: (string | number)[]; value: FilePart | string }[] {
  const found: { path: (string | number)[]; value: FilePart | string }[] = [];
  const walk = (value: unknown, path: (string | number)[]): void => {
    if (isFilePart(value) || (typeof value === "string" && value.length > 64 && isInline(value)))
      found.push({ path, value });
    else if (path.length >= MAX_DEPTH) return;
    else if (Array.isArray(value)) for (const [index, each] of value.entries()) walk(each, [...path, index]);
    else if (value !== null && typeof value === "object") {
      for (const [key, each] of Object.entries(value)) walk(each, [...path, key]);
    }
  };
  const { metadata: _metadata, prompt: _prompt, negative_prompt: _negative, ...rest } = input;
  walk(rest, []);
  return found;
}

export const storedAssetReference = (assetId: string) => `asset:${assetId}`;

/** The source of an image in a parsed input whose inline images are stored. */
export function parseSource(value: unknown): Source {
  const { run_id, output_index, frame } = typeof value === "object" ? ((value ?? {}) as RunOutputReference) : {};
  if (run_id !== undefined)
    return { run: run_id, ...(output_index !== undefined && { output: output_index }), ...(frame && { frame }) };
  const text = String(value);
  const assetId = STORED_ASSET.exec(text)?.[1];
  if (assetId) return { asset: assetId };
  return UUID.test(text) ? { run: text } : { url: text };
}

/** The source with the highest precedence: a file, then a URL, then a run. */
export function firstSource(...candidates: unknown[]): Source | undefined {
  const sources = candidates.filter((each) => each !== undefined && each !== null).map(parseSource);
  const rank = (source: Source) => ("asset" in source ? 0 : "run" in source ? 2 : 1);
  return sources.toSorted((a, b) => rank(a) - rank(b))[0];
}
