// Sends generated requests as they are, over connections that stay open, and measures the time until the end of each
// response. An event stream is closed after its headers.
import { Agent } from "undici";
import type { ReceivedResponse } from "../conformance/error-body.ts";
import type { GeneratedFormPart } from "../conformance/generated-requests.ts";
import { EXTREME_TEXTS, type FuzzedRequest } from "./api-requests.ts";

export type TimedResponse = ReceivedResponse & { ms: number; startedAt: number };
type ClientOptions = { url: string; key: string; connections: number; files: Buffer[] };

const BOUNDARY = "----fuzz";
/** Only ends a run whose server hangs; how long responses take is reported. */
const TIMEOUT_MS = 300_000;

export function createFuzzClient({ url, key, connections, files }: ClientOptions) {
  const dispatcher = new Agent({ connections, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const buildForm = (parts: GeneratedFormPart[]): Buffer =>
    Buffer.concat([
      ...parts.flatMap(({ name, text, file }) => [
        Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="${escapeName(name)}"`),
        Buffer.from(file === undefined ? "\r\n\r\n" : '; filename="a.png"\r\n\r\n'),
        file === undefined ? Buffer.from(text ?? "") : files[file]!,
        Buffer.from("\r\n"),
      ]),
      Buffer.from(`--${BOUNDARY}--\r\n`),
    ]);
  return async (request: Omit<FuzzedRequest, "operationId" | "wrong">): Promise<TimedResponse> => {
    const { method, url: path, headers, json, form, extremeText } = request;
    const text = extremeText === undefined ? json : EXTREME_TEXTS[extremeText];
    const startedAt = performance.now();
    const response = await dispatcher.request({
      origin: url,
      // A path is ASCII; other characters are sent as their UTF-8 bytes.
      path: encodeURI(path).replaceAll("%25", "%"),
      method: method as "GET",
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json",
        prefer: "wait=0",
        ...(form && { "content-type": `multipart/form-data; boundary=${BOUNDARY}` }),
        ...headers,
      },
      body: form ? buildForm(form) : (text ?? null),
    });
    const get = (name: string) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value.join(", ") : (value ?? null);
    };
    const received = { status: response.statusCode, headers: { get }, startedAt };
    if (get("content-type")?.startsWith("text/event-stream")) {
      response.body.on("error", () => undefined).destroy();
      return { ...received, body: undefined, ms: performance.now() - startedAt };
    }
    const body = await response.body.text();
    const ms = performance.now() - startedAt;
    const isJson = /json/.test(get("content-type") ?? "") && body !== "";
    return { ...received, body: isJson ? JSON.parse(body) : body, ms };
  };
}

const escapeName = (name: string) => name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
