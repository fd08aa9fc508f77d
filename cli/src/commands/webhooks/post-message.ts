// Sends a message to a receiver on this side: the bytes and headers as they were made, one connection each, no redirect.
import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { InvalidArgumentError } from "commander";

/** `error` is a word for the log of deliveries, `says` is for people. */
export type PostResult = { status: number; text: string } | { error: string; says: string };
export type SignedMessage = { body: string; headers: Record<string, string> };

const ANSWER_MS = 15_000;
const MAX_RESPONSE_BYTES = 1024;

/** `3000/hook` and `localhost:3000/hook` are enough. */
export function parseTarget(text: string): URL {
  const whole = /^\d/.test(text) && !/^\d+\./.test(text) ? `localhost:${text}` : text;
  const address = /^[a-z]+:\/\//i.test(whole) ? whole : `http://${whole}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("Must be an http or https URL, for example localhost:3000/hook.");
  }
  return url;
}

export function postMessage(target: URL, { body, headers }: SignedMessage, timeoutMs = ANSWER_MS): Promise<PostResult> {
  const request = target.protocol === "https:" ? requestSecure : requestPlain;
  return new Promise((resolve) => {
    const sent = request(target, {
      method: "POST",
      // One that was kept may be closed by the other side in the moment that we write to it.
      agent: false,
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      signal: AbortSignal.timeout(timeoutMs),
    });
    sent.on("error", (thrown) => resolve(toConnectionError(thrown)));
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      const status = response.statusCode ?? 0;
      const end = () => resolve({ status, text: textOf(chunks) });
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        if (size < MAX_RESPONSE_BYTES) chunks.push(chunk);
        size += chunk.length;
      });
      response.on("end", end);
      // The status was read: whatever becomes of the rest, it counts.
      response.on("error", end);
    });
    sent.end(body);
  });
}

/** As far as it is kept, and without what no log takes. */
const textOf = (chunks: Buffer[]) =>
  Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString("utf8").replaceAll("\0", "");

function toConnectionError(thrown: Error): PostResult {
  const code = String((thrown as NodeJS.ErrnoException).code ?? thrown.name);
  if (thrown.name === "AbortError" || thrown.name === "TimeoutError")
    return { error: "timeout", says: "no response before the timeout" };
  if (/ENOTFOUND|EAI_/.test(code)) return { error: "name", says: `no such host (${code})` };
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return { error: "tls", says: `invalid TLS certificate (${code})` };
  return { error: "connection", says: `cannot be reached (${code})` };
}
