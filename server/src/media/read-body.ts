// Reads what a stranger answers: a whole file in plain bytes, never more than was asked for and never slower than it must
// be. Whatever is wrong with it ends the connection too.
import type { Dispatcher } from "undici";
import { Fault } from "../faults.ts";

/** How slow an answer may be: after `graceMs` it must have brought this many bytes for each second that it took. */
export type Pace = { graceMs: number; bytesPerSecond: number };
export const USUAL_PACE: Pace = { graceMs: 5_000, bytesPerSecond: 10_000 };
const LOOKS_PER_GRACE = 10;

/** A page instead of a file: it explains why there is none, or asks for a password. */
const PAGES = ["text/html", "application/xhtml+xml"];

export type Opened = { media_type: string; bytes: AsyncIterable<Uint8Array> };
export type Response = Dispatcher.ResponseData;

type Reason =
  | ("timeout" | "too_slow" | "name" | "connection" | "tls")
  | ("status" | "encoding" | "page" | "empty" | "too_many_redirects");

export const failed = (reason: Reason, more: Record<string, unknown> = {}, cause?: unknown): Fault =>
  new Fault("source_fetch_failed", { reason, ...more }, { cause });

export const tooLarge = (maxBytes: number): Fault => new Fault("source_too_large", { max_bytes: maxBytes });

export const headerOf = ({ headers }: Response, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

export const openBody = (response: Response, maxBytes: number, pace: Pace): Opened => {
  const type = headerOf(response, "content-type")?.replace(/;.*/, "").trim().toLowerCase();
  const fault = faultOf(response, type, maxBytes);
  if (!fault) return { media_type: type || "application/octet-stream", bytes: bounded(response.body, maxBytes, pace) };
  discard(response.body);
  throw fault;
};

/** What can be told before the first byte of the body. */
const faultOf = (response: Response, type: string | undefined, maxBytes: number): Fault | undefined => {
  const { statusCode: status } = response;
  if (status !== 200) return failed("status", { status });
  if ((headerOf(response, "content-encoding") ?? "identity") !== "identity") return failed("encoding");
  if (PAGES.includes(String(type))) return failed("page");
  return Number(headerOf(response, "content-length") ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
};

type Body = Response["body"];

async function* bounded(body: Body, maxBytes: number, pace: Pace): AsyncGenerator<Uint8Array> {
  const beginning = performance.now();
  let size = 0;
  const watch = setInterval(() => {
    const milliseconds = performance.now() - beginning;
    const least = milliseconds < pace.graceMs ? 0 : (milliseconds / 1000) * pace.bytesPerSecond;
    if (size < least) body.destroy(failed("too_slow"));
  }, pace.graceMs / LOOKS_PER_GRACE);
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
    if (size === 0) throw failed("empty");
  } finally {
    clearInterval(watch);
    discard(body);
  }
}

/** What is left of an answer is of no use, and neither is its connection. */
const discard = (body: Body): void => void body.on("error", () => undefined).destroy();
