// Reads an untrusted response as a file, with limits on size and minimum speed. Any violation closes the connection.
import type { Dispatcher } from "undici";
import { Fault } from "../faults/faults.ts";
import type { Clock } from "../runtime/clock.ts";

/** Minimum speed of a download: after `graceMs`, the average must be at least this many bytes per second. */
export type MinimumDownloadRate = { graceMs: number; bytesPerSecond: number };
export const DEFAULT_MINIMUM_DOWNLOAD_RATE: MinimumDownloadRate = { graceMs: 5_000, bytesPerSecond: 10_000 };
const LOOKS_PER_GRACE = 10;

/** Media types of web pages: an error page or a login form instead of the file. */
const PAGES = ["text/html", "application/xhtml+xml"];

/** `size_bytes`: if the server has announced it. */
export type OpenedDownload = {
  media_type: string;
  size_bytes?: number | undefined;
  bytes: AsyncGenerator<Uint8Array, void, undefined>;
};
export type UndiciResponse = Dispatcher.ResponseData;

type Reason =
  | ("timeout" | "too_slow" | "name" | "connection" | "tls")
  | ("status" | "encoding" | "page" | "empty" | "too_many_redirects");

export const fetchFailed = (reason: Reason, more: Record<string, unknown> = {}, cause?: unknown): Fault =>
  new Fault("source_fetch_failed", { reason, ...more }, { cause });

export const sourceTooLarge = (maxBytes: number): Fault => new Fault("source_too_large", { max_bytes: maxBytes });

export const readHeader = ({ headers }: UndiciResponse, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

type BodyLimits = { maxBytes: number; pace: MinimumDownloadRate; clock: Pick<Clock, "monotonic" | "every"> };

export const openResponseBody = (response: UndiciResponse, { maxBytes, pace, clock }: BodyLimits): OpenedDownload => {
  const type = readHeader(response, "content-type")?.replace(/;.*/, "").trim().toLowerCase();
  const fault = faultOf(response, type, maxBytes);
  if (!fault) {
    const bytes = limitBody(response.body, { maxBytes, pace, clock });
    return { media_type: type || "application/octet-stream", size_bytes: announcedSize(response), bytes };
  }
  discard(response.body);
  throw fault;
};

/** Checks status and headers before the body is read. */
const faultOf = (response: UndiciResponse, type: string | undefined, maxBytes: number): Fault | undefined => {
  const { statusCode: status } = response;
  if (status !== 200) return fetchFailed("status", { status });
  if ((readHeader(response, "content-encoding") ?? "identity") !== "identity") return fetchFailed("encoding");
  if (PAGES.includes(String(type))) return fetchFailed("page");
  return (announcedSize(response) ?? 0) > maxBytes ? sourceTooLarge(maxBytes) : undefined;
};

const announcedSize = (response: UndiciResponse): number | undefined =>
  parseSize(readHeader(response, "content-length"));

/** Undefined for a text that is no number of bytes. */
export const parseSize = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

type Body = UndiciResponse["body"];

async function* limitBody(body: Body, { maxBytes, pace, clock }: BodyLimits): OpenedDownload["bytes"] {
  const beginning = clock.monotonic();
  let size = 0;
  const watch = clock.every(pace.graceMs / LOOKS_PER_GRACE, () => {
    const milliseconds = clock.monotonic() - beginning;
    const least = milliseconds < pace.graceMs ? 0 : (milliseconds / 1000) * pace.bytesPerSecond;
    if (size < least) body.destroy(fetchFailed("too_slow"));
  });
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw sourceTooLarge(maxBytes);
      yield chunk;
    }
    if (size === 0) throw fetchFailed("empty");
  } finally {
    watch.stop();
    discard(body);
  }
}

/** Discards the rest of the response and closes its connection. */
const discard = (body: Body): void => void body.on("error", () => undefined).destroy();
