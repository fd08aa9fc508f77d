// Records the request that was sent to a provider, to explain a result later. Headers are not recorded, because they
// contain credentials; files are replaced by their size; the callback URL is removed, because its signature grants
// access.
import type { JsonObject } from "../kit/schemas/run.ts";
import type { ProviderContext } from "../providers/provider.ts";

const MAX_TEXT_LENGTH = 2000;
const MAX_LIST_LENGTH = 50;

/** Wraps the context so that `request` returns the last request sent through it: the one that submits the job. */
export function recordRequests(context: ProviderContext<unknown>): {
  context: ProviderContext<unknown>;
  request(): JsonObject | undefined;
} {
  let last: { url: string; method: string; body: unknown } | undefined;
  const redactCallbackUrl = (text: string) => {
    const url = context.callbackUrl;
    return url ? text.replaceAll(url, "(callback)").replaceAll(encodeURIComponent(url), "(callback)") : text;
  };
  return {
    context: {
      ...context,
      send: (url, request) => {
        last = { url, method: request.method, body: request.body };
        return context.send(url, request);
      },
    },
    request: () =>
      last && {
        url: redactCallbackUrl(last.url),
        method: last.method,
        body: summarize(decodeBody(last.body), redactCallbackUrl) as JsonObject,
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
    return body;
  }
}

function summarize(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") {
    if (value.startsWith("data:")) return `(${value.slice(5, value.indexOf(";"))}, ${value.length} characters)`;
    return value.length > MAX_TEXT_LENGTH ? `(${value.length} characters)` : redact(value);
  }
  if (value instanceof Blob) return `(${value.type || "file"}, ${value.size} bytes)`;
  if (value instanceof Uint8Array) return `(${value.length} bytes)`;
  if (Array.isArray(value)) return value.slice(0, MAX_LIST_LENGTH).map((each) => summarize(each, redact));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, summarize(each, redact)]));
}
