// Standard Webhooks: proves that a message comes from your Gesso and is not an old one sent again. It needs nothing but
// Web Crypto, so it works wherever a receiver may run.
import { GessoError } from "./errors.ts";

/** Why a message was not believed. */
export type WebhookRefusal =
  | "missing_headers"
  | "bad_timestamp"
  | "too_old"
  | "too_new"
  | "bad_signature"
  | "bad_secret";

/** The message is not to be believed. Answer 400 and do nothing. */
export class WebhookVerificationError extends GessoError {
  static override readonly family: string = "WebhookVerificationError";
  /** Which check it did not pass. */
  readonly reason: WebhookRefusal;
  constructor(reason: WebhookRefusal, message: string) {
    super(message, { code: reason });
    this.reason = reason;
  }
  /** None: the reasons are all told by {@link WebhookRefusal}. */
  override get docUrl(): undefined {
    return undefined;
  }
}

/** `Headers`, a `Request`, or the object of Node, Express and others. */
export type WebhookHeaders = Headers | { headers: Headers } | Record<string, string | string[] | undefined>;

/** How strict the check is. */
export type VerifyOptions = {
  /** How many seconds a message may be old, or early. 300 */
  toleranceSeconds?: number;
  /** The clock, in milliseconds. */
  now?: () => number;
};

/** What Gesso sends. `data` is the run. */
export type WebhookEvent<Data = Record<string, unknown>> = { type: string; timestamp: string; data: Data };

const encoder = new TextEncoder();

/**
 * Checks the signature and gives the message. The body must be the text as it came, not parsed and printed again.
 * @example const event = await unwrap(await request.text(), request.headers, secret)
 */
export async function unwrap<Data = Record<string, unknown>>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent<Data>> {
  await verifySignature(body, headers, secret, options);
  return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as WebhookEvent<Data>;
}

/** Throws unless one of the signatures was made with one of the secrets, within the tolerance. */
export async function verifySignature(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | string[],
  { toleranceSeconds = 300, now = Date.now }: VerifyOptions = {},
): Promise<void> {
  const read = createHeaderReader(headers);
  const [id, timestamp, signatures] = [read("webhook-id"), read("webhook-timestamp"), read("webhook-signature")];
  if (!id || !timestamp || !signatures) {
    throw new WebhookVerificationError(
      "missing_headers",
      "webhook-id, webhook-timestamp or webhook-signature is missing",
    );
  }
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookVerificationError("bad_timestamp", "webhook-timestamp is not a Unix timestamp");
  const age = now() / 1000 - Number(timestamp);
  if (age > toleranceSeconds) throw new WebhookVerificationError("too_old", "The message is too old");
  if (age < -toleranceSeconds) throw new WebhookVerificationError("too_new", "The message is from the future");

  const content = signedContent(id, timestamp, body);
  const given = signatures.split(" ").flatMap((each) => (each.startsWith("v1,") ? [fromBase64(each.slice(3))] : []));
  let isVerified = false;
  for (const own of [secret].flat()) {
    const key = await importSecret(own, "verify");
    // Every pair is looked at, and Web Crypto compares in constant time.
    for (const each of given) if (each && (await crypto.subtle.verify("HMAC", key, each, content))) isVerified = true;
  }
  if (!isVerified) throw new WebhookVerificationError("bad_signature", "No signature matches the body and the secret");
}

/**
 * Headers as Gesso would send them, for tests of a receiver.
 * @example await fetch(receiver, { method: "POST", body, headers: await generateTestHeaders(body, secret) })
 */
export async function generateTestHeaders(
  body: string | Uint8Array,
  secret: string | string[],
  { id = "msg_test", timestamp = Math.floor(Date.now() / 1000) }: { id?: string; timestamp?: number } = {},
): Promise<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>> {
  const content = signedContent(id, String(timestamp), body);
  const signatures = await Promise.all(
    [secret].flat().map(async (own) => {
      const signature = await crypto.subtle.sign("HMAC", await importSecret(own, "sign"), content);
      return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`;
    }),
  );
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signatures.join(" ") };
}

function signedContent(id: string, timestamp: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(`${id}.${timestamp}.`);
  const rest = typeof body === "string" ? encoder.encode(body) : body;
  const content = new Uint8Array(head.length + rest.length);
  content.set(head);
  content.set(rest, head.length);
  return content;
}

/** `whsec_` and base64 is a key in bytes; a secret without the prefix is taken as it stands. */
function importSecret(secret: string, usage: "sign" | "verify"): Promise<CryptoKey> {
  const bytes = secret.startsWith("whsec_") ? fromBase64(secret.slice(6)) : encoder.encode(secret);
  if (!bytes || bytes.length === 0) throw new WebhookVerificationError("bad_secret", "The secret is not base64");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [usage]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function createHeaderReader(given: WebhookHeaders): (name: string) => string | undefined {
  const inner = (given as { headers?: unknown }).headers;
  const headers = inner && typeof inner === "object" ? (inner as WebhookHeaders) : given;
  if (typeof (headers as Headers).get === "function") return (name) => (headers as Headers).get(name) ?? undefined;
  const byName = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat().join(" ")]),
  );
  return (name) => byName.get(name);
}
