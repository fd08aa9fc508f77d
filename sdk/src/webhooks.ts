// Verifies webhook messages (Standard Webhooks): the signature proves the sender, the timestamp prevents replay. Needs
// only Web Crypto, so it runs on every supported runtime.
import { GessoError } from "./errors.ts";
import type { Event } from "./generated/shapes.ts";

/** Why a message failed verification. */
export type WebhookErrorReason =
  | "missing_headers"
  | "bad_timestamp"
  | "too_old"
  | "too_new"
  | "bad_signature"
  | "bad_secret";

/** The message failed verification. Respond with 400 and ignore it. */
export class WebhookVerificationError extends GessoError {
  static override readonly family: string = "WebhookVerificationError";
  /** The check that failed. */
  readonly reason: WebhookErrorReason;
  constructor(reason: WebhookErrorReason, message: string) {
    super(message, { code: reason });
    this.reason = reason;
  }
}

/** `Headers`, a `Request`, or the headers object of Node.js, Express and other frameworks. */
export type WebhookHeaders = Headers | { headers: Headers } | Record<string, string | string[] | undefined>;

/** Options for verification. */
export type VerifyOptions = {
  /** Maximum difference between the timestamp and the clock, in seconds. Default: 300. */
  toleranceSeconds?: number;
  /** The clock, in milliseconds. */
  now?: () => number;
};

type WithoutId<Message> = Message extends Event ? Omit<Message, "event_id"> : never;

/** A webhook message. `type` tells which data it has; pass `Data` if you know it yourself. */
export type WebhookEvent<Data = undefined> = Data extends undefined
  ? WithoutId<Event>
  : { type: string; timestamp: string; data: Data };

const encoder = new TextEncoder();

/**
 * Verifies the signature and returns the parsed message. Pass the raw body: parsing and serializing changes the bytes.
 * @example const event = await unwrap(await request.text(), request.headers, secret)
 */
export async function unwrap<Data = undefined>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent<Data>> {
  await verifySignature(body, headers, secret, options);
  return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as WebhookEvent<Data>;
}

/** Throws unless one signature matches one of the secrets and the timestamp is within the tolerance. */
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
  if (age < -toleranceSeconds)
    throw new WebhookVerificationError("too_new", "The timestamp of the message is in the future");

  const content = signedContent(id, timestamp, body);
  const given = signatures.split(" ").flatMap((each) => (each.startsWith("v1,") ? [fromBase64(each.slice(3))] : []));
  let isVerified = false;
  for (const own of [secret].flat()) {
    const key = await importSecret(own, "verify");
    // Every pair is checked, and Web Crypto compares in constant time.
    for (const each of given) if (each && (await crypto.subtle.verify("HMAC", key, each, content))) isVerified = true;
  }
  if (!isVerified) throw new WebhookVerificationError("bad_signature", "No signature matches the body and the secret");
}

/**
 * Signed headers for tests of a receiver, in the format that Gesso sends.
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

/** After `whsec_` the secret is base64; a secret without the prefix is used as it is. */
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
