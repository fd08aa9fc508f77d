// HTTP server of the separate fetcher process (--role fetcher). It fetches URLs for clients with the token and streams
// the bytes back. It has no access to the database, storage or provider keys.
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { Fault } from "../faults/faults.ts";
import type { FetchOptions, UrlFetcher } from "./url-fetcher.ts";

const MAX_CONCURRENT_FETCHES = 256;
const MAX_REQUEST_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

/** A request to the fetcher: the URL and `FetchOptions`, with the fetcher's own limits. */
const FetchRequest = z.strictObject({
  url: z.string(),
  max_bytes: z
    .int()
    .min(1)
    .max(256 * 1024 * 1024 * 1024),
  timeout_seconds: z.number().positive().max(3600),
  trusted_origins: z.array(z.url()).max(64).optional(),
  allowed_origins: z.array(z.string()).max(256).optional(),
  headers: z.record(z.string(), z.string()).optional(),
});
export type FetchRequest = z.output<typeof FetchRequest>;

/** The outcome is a trailer, because a fetch can fail after the first bytes. */
export const OUTCOME_TRAILER = "x-outcome";
export const OUTCOME_COMPLETE = "complete";

type FetcherServerOptions = { fetcher: UrlFetcher; token: string };

export const createFetcherServer = ({ fetcher, token }: FetcherServerOptions): Server => {
  let running = 0;
  const isAuthorized = createTokenCheck(token);
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === "/livez") return refuse(response, 200);
    if (!isAuthorized(request.headers.authorization)) return refuse(response, 401);
    if (request.method !== "POST" || request.url !== "/fetch") return refuse(response, 404);
    if (running >= MAX_CONCURRENT_FETCHES) return refuse(response, 503);
    running += 1;
    try {
      await respond(fetcher, request, response);
    } finally {
      running -= 1;
    }
  };
  const server = createServer((request, response) => {
    // The client disconnected, so there is no one to respond to.
    serve(request, response).catch(() => response.destroy());
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = REQUEST_TIMEOUT_MS;
  return server;
};

const createTokenCheck = (token: string) => {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (header = ""): boolean => timingSafeEqual(digest(header), expected);
};

const refuse = (response: ServerResponse, status: number): void => {
  response.writeHead(status, { connection: "close" }).end();
};

const respond = async (fetcher: UrlFetcher, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const fetchRequest = await readFetchRequest(request);
  if (!fetchRequest) return refuse(response, 400);
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort());
  try {
    const { media_type, size_bytes, bytes } = await fetcher.open(fetchRequest.url, {
      ...toFetchOptions(fetchRequest),
      signal: disconnected.signal,
    });
    response.writeHead(200, {
      "content-type": "application/octet-stream",
      "x-media-type": media_type,
      ...(size_bytes !== undefined && { "x-size-bytes": String(size_bytes) }),
      trailer: OUTCOME_TRAILER,
    });
    response.flushHeaders();
    await pipeline(bytes, response, { end: false });
    response.addTrailers({ [OUTCOME_TRAILER]: OUTCOME_COMPLETE });
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    const outcome = JSON.stringify({ code: thrown.code, details: thrown.details });
    if (response.headersSent) response.addTrailers({ [OUTCOME_TRAILER]: outcome });
    else response.writeHead(422, { "content-type": "application/json" }).write(outcome);
  }
  response.end();
};

const readFetchRequest = async (request: IncomingMessage): Promise<FetchRequest | undefined> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_REQUEST_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return FetchRequest.safeParse(JSON.parse(Buffer.concat(chunks).toString())).data;
  } catch {
    return undefined;
  }
};

// The return type is spelled out: a misspelt optional field would otherwise drop a restriction silently.
const toFetchOptions = (request: FetchRequest): FetchOptions => ({
  maxBytes: request.max_bytes,
  timeoutSeconds: request.timeout_seconds,
  ...(request.trusted_origins && ({ trustedOrigins: request.trusted_origins } satisfies Partial<FetchOptions>)),
  ...(request.allowed_origins && ({ allowedOrigins: request.allowed_origins } satisfies Partial<FetchOptions>)),
  ...(request.headers && ({ headers: request.headers } satisfies Partial<FetchOptions>)),
});
