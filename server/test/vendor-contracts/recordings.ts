// Exchanges with a provider as they were, without secrets and large files, and a server that answers with them. A
// replay answers only requests that equal the recorded ones, so it shows what an adapter sends differently today.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { SendRequest } from "../../src/providers/provider.ts";

/** Origins are written as `{{0}}`, `{{1}}` and so on. A form is an object of its fields. */
export type RecordedExchange = {
  method: string;
  url: string;
  body?: unknown;
  status: number;
  headers: Record<string, string>;
  text: string;
};
export type Recording = {
  provider: string;
  model: string;
  task: string;
  recorded_on: string;
  /** Settings that are URLs, by their names. */
  settings: Record<string, string>;
  exchanges: RecordedExchange[];
};

const KEPT_HEADERS = ["content-type", "retry-after", "x-fal-billable-units"];
const SECRET_SETTING = /KEY|TOKEN|SECRET|PASSWORD/;
/** Fields of responses about the account. */
const PERSONAL_FIELD = /^(username|email|user_id|account|organization|github_url)$/;
/** What makes a link work for its bearer. */
const SIGNATURE = /([?&](?:X-Amz-[\w-]+|Signature|signature|sig|se|st|token|Expires|Key-Pair-Id|Policy)=)[^&"\\\s]*/g;
const HIDDEN = "REMOVED";
/** Base64 of more characters is a file. */
const MAX_BASE64 = 400;
const BASE64 = new RegExp(`[A-Za-z0-9+/_-]{${MAX_BASE64},}={0,2}`, "g");
/** A transparent pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

type Place = Pick<Recording, "provider" | "model" | "task" | "recorded_on">;

/** Passes requests on, and collects them. `finish` returns what may be kept. */
export function createRecorder(send: SendRequest, env: Record<string, string>) {
  const exchanges: RecordedExchange[] = [];
  const sendAndRecord: SendRequest = async (url, request) => {
    const response = await send(url, request);
    const body = readBody(request.body);
    const kept = KEPT_HEADERS.flatMap((name): [string, string][] => {
      const value = response.header(name);
      return value === undefined ? [] : [[name, value]];
    });
    exchanges.push({
      ...{ method: request.method, url, ...(body !== undefined && { body }) },
      ...{ status: response.status, headers: Object.fromEntries(kept), text: response.text },
    });
    return response;
  };
  const finish = (place: Place): Recording => {
    const settings = Object.fromEntries(Object.entries(env).filter(([, value]) => /^https?:\/\//.test(value)));
    const secrets = Object.entries(env).flatMap(([name, value]) =>
      SECRET_SETTING.test(name) ? listSecrets(value) : [],
    );
    return withoutSecrets({ ...place, settings, exchanges }, secrets);
  };
  return { send: sendAndRecord, finish };
}

/** The whole value, and the parts of a key such as `id:secret`. */
const listSecrets = (value: string) => [value, ...value.split(":")].filter((part) => part.length >= 4);

function readBody(body: string | Uint8Array | FormData | undefined): unknown {
  if (body === undefined) return undefined;
  if (body instanceof FormData) {
    const names = [...new Set(body.keys())];
    return Object.fromEntries(names.map((name) => [name, body.getAll(name).map(describePart)]));
  }
  const text = typeof body === "string" ? body : Buffer.from(body).toString("latin1");
  try {
    return JSON.parse(text);
  } catch {
    return typeof body === "string" ? text : `${body.byteLength} bytes`;
  }
}
const describePart = (part: FormDataEntryValue) => (typeof part === "string" ? part : `a file, ${part.type}`);

function withoutSecrets(recording: Recording, secrets: string[]): Recording {
  const clean = (text: string) =>
    secrets
      .toSorted((a, b) => b.length - a.length)
      .reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
      .replaceAll(SIGNATURE, `$1${HIDDEN}`)
      .replaceAll(BASE64, PIXEL);
  const cleanValue = (value: unknown, isPersonal: (name: string) => boolean, name = ""): unknown => {
    if (typeof value === "string") return isPersonal(name) ? HIDDEN : clean(value);
    if (Array.isArray(value)) return value.map((each) => cleanValue(each, isPersonal));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleanValue(each, isPersonal, key)]));
  };
  const exchanges = recording.exchanges.map(({ text, ...rest }) => ({
    ...(cleanValue(rest, () => false) as Omit<RecordedExchange, "text">),
    text: isJson(text)
      ? JSON.stringify(cleanValue(JSON.parse(text), (name) => PERSONAL_FIELD.test(name)))
      : clean(text),
  }));
  return withoutOrigins({ ...recording, exchanges });
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Only origins that requests went to: a result elsewhere keeps its URL, and is not fetched again. */
function withoutOrigins(recording: Recording): Recording {
  const urls = [...Object.values(recording.settings), ...recording.exchanges.map(({ url }) => url)];
  const origins = [...new Set(urls.map((url) => new URL(url).origin))];
  const text = origins.reduce(
    (left, origin, index) => left.replaceAll(origin, `{{${index}}}`),
    JSON.stringify(recording),
  );
  return JSON.parse(text) as Recording;
}

export type Replay = {
  /** The settings of the recording, with URLs of this server. */
  env: Record<string, string>;
  /** Requests that the recording does not have, each as a sentence. */
  mismatches: string[];
  close(): Promise<void>;
};

/** Answers each recorded request as it was answered. Of several equal ones, the last answer is repeated. */
export async function startReplay(recording: Recording): Promise<Replay> {
  const mismatches: string[] = [];
  const answered = new Map<string, number>();
  let exchanges: RecordedExchange[] = [];
  const server = createServer(async (request, response) => {
    const body = await readReceived(
      new Request(`http://replay${request.url}`, {
        ...{ method: request.method!, headers: request.headers as Record<string, string> },
        ...(["GET", "HEAD"].includes(request.method!) ? {} : { body: request as never, duplex: "half" }),
      } as RequestInit),
    );
    const url = `http://${request.headers.host}${request.url}`;
    const at = `${request.method} ${request.url}`;
    const there = exchanges.filter((each) => each.method === request.method && each.url === url);
    const equal = there.filter((each) => isDeepStrictEqual(each.body, body));
    const number = answered.get(at) ?? 0;
    const found = equal[Math.min(number, equal.length - 1)];
    if (!found) {
      mismatches.push(
        there.length > 0
          ? `${at} has another body: ${describeDifference(there[0]!.body, body)}`
          : `${at} was not recorded`,
      );
      response.statusCode = 599;
      response.end();
      return;
    }
    answered.set(at, number + 1);
    response.writeHead(found.status, found.headers);
    response.end(found.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const local = JSON.parse(
    JSON.stringify(recording).replaceAll(/\{\{(\d+)\}\}/g, (_, index) => `${own}/origin-${index}`),
  ) as Recording;
  exchanges = local.exchanges;
  return {
    env: local.settings,
    mismatches,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As it would have been recorded. Files are not compared. */
async function readReceived(request: Request): Promise<unknown> {
  if (request.headers.get("content-type")?.startsWith("multipart/")) return readBody(await request.formData());
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength === 0) return undefined;
  const body = readBody(request.headers.get("content-type")?.includes("json") ? Buffer.from(bytes).toString() : bytes);
  return JSON.parse(JSON.stringify(body).replaceAll(BASE64, PIXEL));
}

function describeDifference(recorded: unknown, received: unknown): string {
  const [before, now] = [recorded, received].map((value) => (value ?? {}) as Record<string, unknown>);
  const names = [...new Set([...Object.keys(before!), ...Object.keys(now!)])];
  return names.filter((name) => !isDeepStrictEqual(before![name], now![name])).join(", ");
}
