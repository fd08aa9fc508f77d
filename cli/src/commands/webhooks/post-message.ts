// Posts a signed message to the local receiver: unchanged body and headers, one connection per message, no redirects.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { InvalidArgumentError } from "commander";

/** `error` is the code stored in the delivery log, `message` is shown on the terminal. */
export type PostResult = { status: number; text: string } | { error: string; message: string };
export type SignedMessage = { body: string; headers: Record<string, string> };

const RESPONSE_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 1024;

/** `3000/hook` and `localhost:3000/hook` are enough. */
export function parseTarget(text: string): URL {
  const authority = /^\d/.test(text) && !/^\d+\./.test(text) ? `localhost:${text}` : text;
  const href = /^[a-z]+:\/\//i.test(authority) ? authority : `http://${authority}`;
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("Must be an http or https URL, for example localhost:3000/hook.");
  }
  return url;
}

export function postMessage(
  target: URL,
  { body, headers }: SignedMessage,
  timeoutMs = RESPONSE_TIMEOUT_MS,
): Promise<PostResult> {
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const request = send(target, {
      method: "POST",
      // The receiver may close a kept-alive connection at the moment the next message is written to it.
      agent: false,
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      signal: AbortSignal.timeout(timeoutMs),
    });
    request.on("error", (thrown) => resolve(toConnectionError(thrown)));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      const status = response.statusCode ?? 0;
      const end = () => resolve({ status, text: toText(chunks) });
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        if (size < MAX_RESPONSE_BYTES) chunks.push(chunk);
        size += chunk.length;
      });
      response.on("end", end);
      // The status has been read, so an error in the body does not matter.
      response.on("error", end);
    });
    request.end(body);
  });
}

/** The first kilobyte, without NUL characters, which PostgreSQL cannot store. */
const toText = (chunks: Buffer[]) =>
  Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString("utf8").replaceAll("\0", "");

function toConnectionError(thrown: Error): PostResult {
  const code = String((thrown as NodeJS.ErrnoException).code ?? thrown.name);
  if (thrown.name === "AbortError" || thrown.name === "TimeoutError")
    return { error: "timeout", message: "no response before the timeout" };
  if (/ENOTFOUND|EAI_/.test(code)) return { error: "name", message: `no such host (${code})` };
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return { error: "tls", message: `invalid TLS certificate (${code})` };
  return { error: "connection", message: `cannot be reached (${code})` };
}
