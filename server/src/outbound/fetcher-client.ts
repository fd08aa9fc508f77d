// Client of the separate fetcher process. Its responses are untrusted: size and time limits are enforced here too, and
// a file is complete only with the trailer that says so.
import { Agent, type Dispatcher } from "undici";
import { z } from "zod";
import { Fault } from "../faults/faults.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createTimeoutSignal } from "../runtime/timeout-signal.ts";
import { type FetchRequest, OUTCOME_COMPLETE, OUTCOME_TRAILER } from "./fetcher-server.ts";
import { fetchFailed, type OpenedDownload, parseSize, readHeader, sourceTooLarge } from "./response-body.ts";
import { collectBytes, type FetchOptions, type UrlFetcher } from "./url-fetcher.ts";

const CONNECT_MS = 2_000;
/** Extra time, so that the fetcher times out first and can report the reason. */
const MARGIN_SECONDS = 2;

/** Faults of fetching that are passed on to the caller. */
const Verdict = z.object({
  code: z.enum(["url_not_allowed", "source_fetch_failed", "source_too_large"]),
  details: z.object({ reason: z.string(), status: z.int(), max_bytes: z.int() }).partial(),
});

type FetcherClientOptions = {
  /** `http://fetcher:7787` or `unix:/run/gesso/fetcher.sock`. */
  url: string;
  token: string;
  checkUrl(url: string): void;
  clock?: Pick<Clock, "after">;
};

export const createFetcherClient = ({
  url,
  token,
  checkUrl,
  clock = systemClock,
}: FetcherClientOptions): UrlFetcher => {
  const socketPath = url.startsWith("unix:") ? url.slice("unix:".length) : undefined;
  const agent = new Agent({
    connect: { timeout: CONNECT_MS, ...(socketPath && { socketPath }) },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const origin = socketPath ? "http://fetcher" : new URL(url).origin;

  const open: UrlFetcher["open"] = async (address, options) => {
    const timeout = createTimeoutSignal(clock, (options.timeoutSeconds + MARGIN_SECONDS) * 1_000);
    const toFault = (thrown: unknown): Fault => {
      if (thrown instanceof Fault) return thrown;
      return timeout.signal.aborted ? fetchFailed("timeout", {}, thrown) : fetcherUnavailable(thrown);
    };
    try {
      const response = await agent.request({
        origin,
        path: "/fetch",
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(toFetchRequest(address, options)),
        signal: options.signal ? AbortSignal.any([timeout.signal, options.signal]) : timeout.signal,
      });
      if (response.statusCode === 422) throw parseFetchFault(await response.body.text());
      if (response.statusCode !== 200) throw await unexpected(response);
      const media_type = readHeader(response, "x-media-type") ?? "application/octet-stream";
      const size_bytes = parseSize(readHeader(response, "x-size-bytes"));
      const bytes = readChecked(response, { maxBytes: options.maxBytes, toFault, onEnd: timeout.stop });
      return { media_type, size_bytes, bytes };
    } catch (thrown) {
      timeout.stop();
      throw toFault(thrown);
    }
  };
  return {
    checkUrl,
    open,
    fetchBytes: async (address, options) => collectBytes(await open(address, options)),
    close: () => agent.close(),
  };
};

const toFetchRequest = (url: string, options: FetchOptions): FetchRequest => ({
  url,
  max_bytes: options.maxBytes,
  timeout_seconds: options.timeoutSeconds,
  ...(options.trustedOrigins && { trusted_origins: [...options.trustedOrigins] }),
  ...(options.allowedOrigins && { allowed_origins: [...options.allowedOrigins] }),
  ...(options.headers && { headers: options.headers }),
});

type BodyChecks = { maxBytes: number; toFault(thrown: unknown): Fault; onEnd(): void };

async function* readChecked(
  { body, trailers }: Dispatcher.ResponseData,
  { maxBytes, toFault, onEnd }: BodyChecks,
): OpenedDownload["bytes"] {
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw sourceTooLarge(maxBytes);
      yield chunk;
    }
    const outcome = trailers[OUTCOME_TRAILER];
    if (outcome !== OUTCOME_COMPLETE) throw parseFetchFault(outcome ?? "");
  } catch (thrown) {
    throw toFault(thrown);
  } finally {
    onEnd();
    body.on("error", () => undefined).destroy();
  }
}

const fetcherUnavailable = (cause: unknown): Fault =>
  new Fault("dependency_unavailable", { dependency: "fetcher" }, { cause });

const unexpected = async ({ statusCode, body }: Dispatcher.ResponseData): Promise<Fault> => {
  await body.dump();
  return fetcherUnavailable(new Error(`The fetcher responded with status ${statusCode}.`));
};

/** A malformed outcome means that the fetcher does not work. */
const parseFetchFault = (text: string): Fault => {
  try {
    const { code, details } = Verdict.parse(JSON.parse(text));
    return new Fault(code, details);
  } catch (thrown) {
    return fetcherUnavailable(thrown);
  }
};
