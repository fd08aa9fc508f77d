// The JWK set of an issuer. It is fetched again when a token names an unknown key, at most every 30 seconds. While the
// issuer is unreachable, the cached set is used for up to a day.
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";

const MIN_REFRESH_INTERVAL_MS = 30_000;
/** An older set is refreshed in the background; a set older than the second limit is refreshed before use. */
const BACKGROUND_REFRESH_AFTER_MS = 10 * 60_000;
const BLOCKING_REFRESH_AFTER_MS = 14 * 60_000;
const MAX_STALE_MS = 24 * 60 * 60_000;
const FETCH_MS = 5000;
const MAX_BYTES = 512 * 1024;

/** Must not follow redirects. */
export type HttpGet = (
  url: string,
  limits: { timeoutMs: number; maxBytes: number },
) => Promise<{ status: number; text: string }>;
export type JwksSource = { issuer: string; jwks_uri?: string | undefined };

/** Whether what is fetched from the URL cannot be replaced on the way: https, or a server on this machine. */
export function isProtected(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return (
    protocol === "https:" || hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}

export function createJwks(source: JwksSource, get: HttpGet, clock: Pick<Clock, "now">): JWTVerifyGetKey {
  let find: ReturnType<typeof createLocalJWKSet> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let pendingLoad: Promise<void> | undefined;
  /** Why the last request failed, for the log. */
  let failure: unknown;

  const load = (): Promise<void> => {
    if (pendingLoad) return pendingLoad;
    if (clock.now() - attemptedAt < MIN_REFRESH_INTERVAL_MS) return Promise.resolve();
    attemptedAt = clock.now();
    pendingLoad = fetchKeys(source, get)
      .then(
        (keys) => {
          find = createLocalJWKSet(keys);
          fetchedAt = clock.now();
        },
        (thrown) => {
          failure = thrown;
        },
      )
      .finally(() => {
        pendingLoad = undefined;
      });
    return pendingLoad;
  };

  return async (header, token) => {
    const age = clock.now() - fetchedAt;
    if (age > BLOCKING_REFRESH_AFTER_MS) await load();
    else if (age > BACKGROUND_REFRESH_AFTER_MS) void load();
    if (!find || clock.now() - fetchedAt > MAX_STALE_MS)
      throw new Fault("dependency_unavailable", {}, { cause: failure });
    try {
      return await find(header, token);
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
      await load();
      return find(header, token);
    }
  };
}

async function fetchKeys({ issuer, jwks_uri }: JwksSource, get: HttpGet): Promise<JSONWebKeySet> {
  const url = jwks_uri ?? (await discoverJwksUrl(issuer, get));
  const { keys } = await readJson<JSONWebKeySet>(url, get);
  if (!Array.isArray(keys)) throw new Error(`${url} has no keys`);
  // Encryption keys and symmetric keys do not verify signatures of an issuer.
  return { keys: keys.filter(({ kty, use }) => kty !== "oct" && use !== "enc") };
}

async function discoverJwksUrl(issuer: string, get: HttpGet): Promise<string> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri } = await readJson<{ issuer?: string; jwks_uri?: string }>(url, get);
  if (named !== issuer || typeof jwks_uri !== "string") throw new Error(`${url} belongs to another issuer`);
  if (!isProtected(jwks_uri)) throw new Error(`${url} names keys at an http URL`);
  return jwks_uri;
}

async function readJson<Shape>(url: string, get: HttpGet): Promise<Shape> {
  const { status, text } = await get(url, { timeoutMs: FETCH_MS, maxBytes: MAX_BYTES });
  if (status !== 200 || text === "" || text.length > MAX_BYTES) throw new Error(`${url} returned status ${status}`);
  return JSON.parse(text) as Shape;
}
