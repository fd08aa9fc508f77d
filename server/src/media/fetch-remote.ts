// Fetches through the fetcher that is a process of its own. It is not believed either: size and time are held here as well,
// and only bytes that it called complete count.
import { Agent, type Dispatcher } from "undici";
import { z } from "zod";
import { Fault } from "../faults.ts";
import { collect, type Fetcher, type FetchOptions } from "./fetch.ts";
import { COMPLETE, type Order, VERDICT } from "./fetch-door.ts";
import { failed, headerOf, tooLarge } from "./read-body.ts";

const CONNECT_MS = 2_000;
/** The fetcher gives up first, so that it can say why. */
const MARGIN_SECONDS = 2;

/** A fault that only fetching knows comes back as itself, with the words that callers may read. */
const Verdict = z.object({
  code: z.enum(["url_not_allowed", "source_fetch_failed", "source_too_large"]),
  details: z.object({ reason: z.string(), status: z.int(), max_bytes: z.int() }).partial(),
});

type Remote = {
  /** `http://fetcher:7787` or `unix:/run/gesso/fetcher.sock`. */
  url: string;
  token: string;
  checkUrl(url: string): void;
};

export const createRemoteFetcher = ({ url, token, checkUrl }: Remote): Fetcher => {
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
          body: JSON.stringify(orderOf(address, options)),
          signal: late,
        });
        if (response.statusCode === 422) throw readVerdict(await response.body.text());
        if (response.statusCode !== 200) throw await unexpected(response);
        const media_type = headerOf(response, "x-media-type") ?? "application/octet-stream";
        return await collect({ media_type, bytes: checked(response, options.maxBytes) });
      } catch (thrown) {
        if (thrown instanceof Fault) throw thrown;
        throw late.aborted ? failed("timeout", {}, thrown) : away(thrown);
      }
    },
    close: () => agent.close(),
  };
};

const orderOf = (url: string, options: FetchOptions): Order => ({
  url,
  max_bytes: options.maxBytes,
  timeout_seconds: options.timeoutSeconds,
  ...(options.allowOrigins && { allow_origins: [...options.allowOrigins] }),
  ...(options.within && { within: [...options.within] }),
  ...(options.headers && { headers: options.headers }),
});

async function* checked({ body, trailers }: Dispatcher.ResponseData, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
    const verdict = trailers[VERDICT];
    if (verdict !== COMPLETE) throw readVerdict(verdict ?? "");
  } finally {
    body.on("error", () => undefined).destroy();
  }
}

const away = (cause: unknown): Fault => new Fault("dependency_unavailable", { dependency: "fetcher" }, { cause });

const unexpected = async ({ statusCode, body }: Dispatcher.ResponseData): Promise<Fault> => {
  await body.dump();
  return away(new Error(`The fetcher answered ${statusCode}.`));
};

/** Anything that is no verdict means that the fetcher is not in order. */
const readVerdict = (text: string): Fault => {
  try {
    const { code, details } = Verdict.parse(JSON.parse(text));
    return new Fault(code, details);
  } catch (thrown) {
    return away(thrown);
  }
};
