// Client of the separate fetcher process. Its responses are not trusted: size and time limits are enforced here too, and bytes count only
// with a trailer that says complete.
import { Agent, type Dispatcher } from "undici";
import { z } from "zod";
import { Fault } from "../faults.ts";
import { type FetchRequest, OUTCOME_COMPLETE, OUTCOME_TRAILER } from "./fetcher-server.ts";
import { fetchFailed, readHeader, sourceTooLarge } from "./response-body.ts";
import { collectBytes, type FetchOptions, type UrlFetcher } from "./url-fetcher.ts";

const CONNECT_MS = 2_000;
/** The fetcher gives up first, so that it can say why. */
const MARGIN_SECONDS = 2;

/** A fault that only fetching knows comes back as itself, with the words that callers may read. */
const Verdict = z.object({
  code: z.enum(["url_not_allowed", "source_fetch_failed", "source_too_large"]),
  details: z.object({ reason: z.string(), status: z.int(), max_bytes: z.int() }).partial(),
});

type FetcherClientOptions = {
  /** `http://fetcher:7787` or `unix:/run/gesso/fetcher.sock`. */
  url: string;
  token: string;
  checkUrl(url: string): void;
};

export const createFetcherClient = ({ url, token, checkUrl }: FetcherClientOptions): UrlFetcher => {
  const socketPath = url.startsWith("unix:") ? url.slice("unix:".length) : undefined;
  const agent = new Agent({
    connect: { timeout: CONNECT_MS, ...(socketPath && { socketPath }) },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const origin = socketPath ? "http://fetcher" : new URL(url).origin;

  return {
    checkUrl,
    fetchBytes: async (address, options) => {
      const late = AbortSignal.timeout((options.timeoutSeconds + MARGIN_SECONDS) * 1_000);
      try {
        const response = await agent.request({
          origin,
          path: "/fetch",
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify(toFetchRequest(address, options)),
          signal: late,
        });
        if (response.statusCode === 422) throw parseFetchFault(await response.body.text());
        if (response.statusCode !== 200) throw await unexpected(response);
        const media_type = readHeader(response, "x-media-type") ?? "application/octet-stream";
        return await collectBytes({ media_type, bytes: readChecked(response, options.maxBytes) });
      } catch (thrown) {
        if (thrown instanceof Fault) throw thrown;
        throw late.aborted ? fetchFailed("timeout", {}, thrown) : fetcherUnavailable(thrown);
      }
    },
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

async function* readChecked({ body, trailers }: Dispatcher.ResponseData, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw sourceTooLarge(maxBytes);
      yield chunk;
    }
    const verdict = trailers[OUTCOME_TRAILER];
    if (verdict !== OUTCOME_COMPLETE) throw parseFetchFault(verdict ?? "");
  } finally {
    body.on("error", () => undefined).destroy();
  }
}

const fetcherUnavailable = (cause: unknown): Fault =>
  new Fault("dependency_unavailable", { dependency: "fetcher" }, { cause });

const unexpected = async ({ statusCode, body }: Dispatcher.ResponseData): Promise<Fault> => {
  await body.dump();
  return fetcherUnavailable(new Error(`The fetcher answered ${statusCode}.`));
};

/** Anything that is no verdict means that the fetcher is not in order. */
const parseFetchFault = (text: string): Fault => {
  try {
    const { code, details } = Verdict.parse(JSON.parse(text));
    return new Fault(code, details);
  } catch (thrown) {
    return fetcherUnavailable(thrown);
  }
};
