// A picture in an input: an address, base64, a run's id, or a file of a form. They are told apart in one order, here.
import { z } from "zod";
import { type FilePart, isFilePart } from "./files.ts";
import type { Source } from "./operation.ts";
import type { JsonObject } from "./schemas/run.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const HTTP_URL = /^https?:\/\/\S+$/i;
const DATA = /^data:image\/(?:png|jpeg|webp);base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** How PNG, JPEG and WebP begin, in base64. */
const MAGIC = /^(?:iVBORw0KGgo|\/9j\/|UklGR)/;
/** A file or base64 that has been kept already stands in the input under this name. */
const STORED_ASSET = /^asset:([0-9a-f-]{36})$/;
const MOST_BASE64 = 35 * 1024 * 1024;
const MOST_ADDRESS = 2048;
/** No field of ours holds a picture further down, and a body may be a hundred thousand brackets deep. */
const DEEPEST = 4;

const isInline = (text: string) => DATA.test(text) || (BASE64.test(text.slice(0, 512)) && MAGIC.test(text));
const isReference = (text: string) => UUID.test(text) || HTTP_URL.test(text) || isInline(text);
const isTooLong = (text: string) => text.length > MOST_ADDRESS && HTTP_URL.test(text);

/** A picture given as address, base64 or run id; in a form also as a file. */
export const imageField = (says: string) =>
  z
    .union([
      z
        .string()
        .max(MOST_BASE64)
        .refine((text) => !isTooLong(text), {
          params: { code: "too_long" },
          error: `A URL has at most ${MOST_ADDRESS} characters.`,
        })
        .refine(isReference, {
          params: { code: "ambiguous_reference" },
          error: "Must be a URL, a base64-encoded PNG, JPEG or WebP, or a run ID.",
        }),
      z.custom<FilePart>(isFilePart),
    ])
    .describe(says)
    .meta({ type: "string", anyOf: undefined, "x-widget": "image", "x-inline": true });

/** The bytes of a picture that came with the request itself, if it did. */
export function decodeInlineImage(value: unknown): Buffer | undefined {
  if (typeof value !== "string" || !isInline(value)) return undefined;
  return Buffer.from(value.replace(DATA, ""), "base64");
}

/** The parts of an input that came with the request and must be kept before anything is planned, by their place. */
export function findInlineImages(input: JsonObject): { path: (string | number)[]; value: FilePart | string }[] {
  const found: { path: (string | number)[]; value: FilePart | string }[] = [];
  const walk = (value: unknown, path: (string | number)[]): void => {
    if (isFilePart(value) || (typeof value === "string" && value.length > 64 && isInline(value)))
      found.push({ path, value });
    else if (path.length >= DEEPEST) return;
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

/** Where the picture of a parsed, kept input comes from. */
export function parseSource(value: unknown): Source {
  const text = String(value);
  const kept = STORED_ASSET.exec(text)?.[1];
  if (kept) return { asset: kept };
  return UUID.test(text) ? { run: text } : { url: text };
}

/** The one source of several that counts: a file before an address before a run. */
export function firstSource(...candidates: unknown[]): Source | undefined {
  const given = candidates.filter((each) => each !== undefined && each !== null);
  const rank = (value: unknown) => (STORED_ASSET.test(String(value)) ? 0 : UUID.test(String(value)) ? 2 : 1);
  const [first] = given.sort((a, b) => rank(a) - rank(b));
  return first === undefined ? undefined : parseSource(first);
}
