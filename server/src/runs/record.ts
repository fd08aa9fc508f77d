// Keeps what was really sent to a provider, for whoever asks why a result looks as it does. Credentials travel in headers,
// which are not looked at; pictures are told by their size; our own callback address, which is a right, is struck out.
import type { Json } from "../kit/shapes.ts";
import type { Context } from "../providers/provider.ts";

const LONGEST_TEXT = 2000;
const LONGEST_LIST = 50;

/** The same context, and a way to ask what the last request through it was: the one that submits comes last. */
export function recorded(context: Context<unknown>): { context: Context<unknown>; request(): Json | undefined } {
  let last: { url: string; method: string; body: unknown } | undefined;
  const strike = (text: string) => {
    const address = context.callbackUrl;
    return address
      ? text.replaceAll(address, "(callback)").replaceAll(encodeURIComponent(address), "(callback)")
      : text;
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
      last && { url: strike(last.url), method: last.method, body: told(bodyOf(last.body), strike) as Json },
  };
}

function bodyOf(body: unknown): unknown {
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

function told(value: unknown, strike: (text: string) => string): unknown {
  if (typeof value === "string") {
    if (value.startsWith("data:")) return `(${value.slice(5, value.indexOf(";"))}, ${value.length} characters)`;
    return value.length > LONGEST_TEXT ? `(${value.length} characters)` : strike(value);
  }
  if (value instanceof Blob) return `(${value.type || "file"}, ${value.size} bytes)`;
  if (value instanceof Uint8Array) return `(${value.length} bytes)`;
  if (Array.isArray(value)) return value.slice(0, LONGEST_LIST).map((each) => told(each, strike));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, told(each, strike)]));
}
