// Parses the body of an OpenAI client: JSON or a form, with images as files, data URLs or URLs. An invalid body is
// refused with all its errors, each at the name that the client used. Fields that are not known here are kept apart.
import { createHash } from "node:crypto";
import { z } from "zod";
import { type FilePart, isFilePart } from "../../contract/files.ts";
import { describeZodIssue } from "../../contract/issue-messages.ts";
import type { BodyKind } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault, type ValidationIssue } from "../../faults/faults.ts";

export const MAX_IMAGES = 16;

/** A file of a form, or a data URL, a URL or the ID of a run. */
export type ClientImage = FilePart | string;

const Fields = z.object({
  prompt: z.string().min(1).optional(),
  model: z.string().min(1).max(200).optional(),
  n: z.int().min(1).max(10).optional(),
  size: z
    .string()
    .regex(/^(auto|\d{1,5}x\d{1,5})$/, { error: "Must be auto or a size such as 1024x1024." })
    .optional(),
  quality: z.string().max(100).optional(),
  background: z.enum(["auto", "opaque", "transparent"]).optional(),
  output_format: z.enum(["png", "jpeg", "webp"]).optional(),
  response_format: z.enum(["b64_json", "url"]).optional(),
  stream: z.boolean().optional(),
  partial_images: z.int().min(0).max(3).optional(),
  user: z.string().max(1024).optional(),
  safety_identifier: z.string().max(1024).optional(),
});
const FIELD_NAMES = Object.keys(Fields.shape);

/** Fields of Gesso's own operations that work here too. */
const OWN_FIELDS = ["seed", "negative_prompt", "max_cost", "routing", "webhook_url", "webhook_secret", "metadata"];
const NUMBERS = ["n", "partial_images", "seed", "max_cost"];

export type ClientBody = z.output<typeof Fields> & {
  images: ClientImage[];
  mask: ClientImage | undefined;
  own: JsonObject;
  unknown: string[];
};

/** Clients write lists as `image[]`, and some as `image[0]`. */
const IMAGES = /^(?:image(?:\[\d*\])?|images)$/;
const MASK = /^mask(?:\[\d*\])?$/;

export function parseClientBody(raw: JsonObject, body: BodyKind): ClientBody {
  // `null` is the same as a missing field, and so is an empty text of a form.
  const isMissing = (value: unknown) => value === null || value === undefined || (body === "form" && value === "");
  const entries = Object.entries(raw).filter(([, value]) => !isMissing(value));
  const pick = (isPicked: (name: string) => boolean) => entries.filter(([name]) => isPicked(name));
  const fields = Object.fromEntries(
    pick((name) => FIELD_NAMES.includes(name) || OWN_FIELDS.includes(name)).map(([name, value]) => [
      name,
      body === "form" ? coerceText(name, value) : value,
    ]),
  );
  const issues: ValidationIssue[] = [];
  const readImages = (name: string, isPicked: RegExp) =>
    pick((each) => isPicked.test(each))
      .flatMap(([, value]) => value)
      .flatMap((value) => readImage(value, name, issues));
  const images = readImages("image", IMAGES);
  const masks = readImages("mask", MASK);
  if (images.length > MAX_IMAGES) issues.push(issueAt("image", "too_many_items", `At most ${MAX_IMAGES} images.`));
  if (masks.length > 1) issues.push(issueAt("mask", "too_many_items", "At most one mask."));
  const parsed = Fields.safeParse(fields, { error: describeZodIssue });
  const fieldIssues = (parsed.error?.issues ?? []).map(({ path, message }) =>
    issueAt(String(path[0]), "invalid_value", message),
  );
  if (!parsed.success || issues.length > 0)
    throw new Fault("validation_error", { errors: [...fieldIssues, ...issues] });
  return {
    ...parsed.data,
    images,
    mask: masks[0],
    own: Object.fromEntries(Object.entries(fields).filter(([name]) => OWN_FIELDS.includes(name))),
    unknown: pick(
      (name) => !FIELD_NAMES.includes(name) && !OWN_FIELDS.includes(name) && !IMAGES.test(name) && !MASK.test(name),
    ).map(([name]) => name),
  };
}

/** Text that does not convert is left as it is, and validation reports it. */
function coerceText(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (NUMBERS.includes(name) && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (name === "stream" && /^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value;
}

function readImage(value: unknown, name: string, issues: ValidationIssue[]): ClientImage[] {
  if (isFilePart(value)) return [value];
  const { image_url: url = value } = (typeof value === "object" && value !== null ? value : {}) as JsonObject;
  if (typeof url === "string" && url !== "") return [url];
  issues.push(
    issueAt(
      name,
      "invalid_type",
      "Must be a file in a form, or in JSON a data URL or URL. IDs of files are not supported.",
    ),
  );
  return [];
}

export const issueAt = (field: string, code: string, message: string): ValidationIssue => ({
  path: `/${field}`,
  code,
  message,
});

/** Longer texts, such as images in base64, are replaced by their digest. */
const MAX_TEXT = 1024;

/**
 * What identifies the request of a client: its path and fields, with the digests of its files. Two requests with
 * equal content can be one that the client sent twice.
 */
export const contentOf = (endpoint: string, raw: JsonObject): JsonObject => ({ endpoint, body: digest(raw) });

/** The name of a file is left out: some clients make a new one for each request. */
function digest(value: unknown): unknown {
  if (isFilePart(value)) return { sha256: value.sha256 };
  if (typeof value === "string")
    return value.length > MAX_TEXT ? { sha256: createHash("sha256").update(value).digest("hex") } : value;
  if (Array.isArray(value)) return value.map(digest);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, digest(each)]));
}
