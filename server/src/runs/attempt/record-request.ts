// Records the request that was sent to a provider, to explain a result later. Users of the API can read the record, so
// it has only the parameters listed here: no URL, header, secret, host or file content. An unknown field is left out.

import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault } from "../../faults/faults.ts";
import type { ProviderContext } from "../../providers/provider.ts";
import { isUnsentRequest } from "../../runtime/unsent-request.ts";

const MAX_TEXT_LENGTH = 2000;
const MAX_LIST_LENGTH = 50;
const MAX_DEPTH = 8;

/** Names of the parameters that a record may show, without `_` and in lower case. */
const SHOWN_PARAMETERS = new Set(
  [
    "aspect_ratio, background, batch_size, cfg, cfg_scale, class_type, count, denoise, duration, factor, format, fps",
    "frames_per_second, go_fast, guidance, guidance_scale, height, image_size, image_strength, instruction, loop",
    "max_images, mode, model, model_name, motion_bucket_id, n, negative_prompt, num_frames, num_images",
    "num_inference_steps, num_outputs, output_format, output_quality, prompt, prompt_strength, prompt_text",
    "prompt_upsampling, quality, ratio, rendering_speed, resolution, safety_tolerance, sampler_name, scale, scheduler",
    "seconds, seed, size, steps, strength, style, style_type, system_prompt, task, text, upscale_factor, width",
  ].flatMap((line) => line.split(", ").map(normalizeName)),
);

/** Names of fields with files. A record shows the media type and size. */
const FILE_NAME = /image|mask|^file|^uri$|^data$|^video$|^init/;

/**
 * Wraps the context so that `request` returns the last request sent through it: the one that submits the job. Undefined
 * if no byte of any request was sent.
 */
export function recordRequests(
  context: ProviderContext<unknown>,
  { isOfAnyModel = false } = {},
): {
  context: ProviderContext<unknown>;
  request(): JsonObject | undefined;
} {
  let last: { url: string; method: string; body: unknown } | undefined;
  return {
    context: {
      ...context,
      send: async (url, request) => {
        const record = { url, method: request.method, body: request.body };
        try {
          const response = await context.send(url, request);
          last = record;
          return response;
        } catch (thrown) {
          // A fault of the context itself, such as an expired lease, comes before the request.
          if (!isUnsentRequest(thrown) && !(thrown instanceof Fault)) last = record;
          throw thrown;
        }
      },
    },
    request: () =>
      last && {
        method: last.method,
        path: new URL(last.url).pathname,
        body: (summarize(decodeBody(last.body), { name: "", depth: 0, isOfAnyModel }) ?? {}) as JsonObject,
      },
  };
}

function decodeBody(body: unknown): unknown {
  if (body instanceof FormData) {
    const parts: Record<string, unknown[]> = {};
    for (const [name, value] of body) parts[name] = [...(parts[name] ?? []), value];
    return parts;
  }
  if (typeof body !== "string") return body;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function normalizeName(name: string): string {
  return name.replaceAll("_", "").replace(/\[\]$/, "").toLowerCase();
}

type Place = { name: string; depth: number; isOfAnyModel: boolean };

/** The part of `value` that a record may show. undefined: nothing. Containers are searched whatever their name. */
function summarize(value: unknown, { name, depth, isOfAnyModel }: Place): unknown {
  if (depth > MAX_DEPTH) return undefined;
  const inside = (each: string) => ({ name: each, depth: depth + 1, isOfAnyModel });
  if (Array.isArray(value)) {
    const shown = value.slice(0, MAX_LIST_LENGTH).map((each) => summarize(each, inside(name)));
    return shown.some((each) => each !== undefined) ? shown.filter((each) => each !== undefined) : undefined;
  }
  const file = describeFile(value, name);
  if (file !== undefined) return file;
  if (value !== null && typeof value === "object") {
    const shown = Object.entries(value)
      .map(([field, each]) => [field, summarize(each, inside(normalizeName(field)))] as const)
      .filter(([, each]) => each !== undefined);
    return shown.length > 0 ? Object.fromEntries(shown) : undefined;
  }
  if (!isOfAnyModel && !SHOWN_PARAMETERS.has(name)) return undefined;
  if (typeof value !== "string") return value;
  if (isUrl(value)) return "(URL)";
  return value.length > MAX_TEXT_LENGTH ? `(${value.length} characters)` : value;
}

/** The kind and size of a file. undefined: `value` is not a file. */
function describeFile(value: unknown, name: string): string | undefined {
  if (value instanceof Blob) return `(${value.type || "file"}, ${value.size} bytes)`;
  if (value instanceof Uint8Array) return `(${value.length} bytes)`;
  if (typeof value !== "string") return undefined;
  if (value.startsWith("data:")) return `(${value.slice(5, value.indexOf(";"))}, ${value.length} characters)`;
  if (!FILE_NAME.test(name) || SHOWN_PARAMETERS.has(name)) return undefined;
  return isUrl(value) ? "(URL)" : `(${value.length} characters)`;
}

const isUrl = (text: string) => /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(text);
