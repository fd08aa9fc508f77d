// The keys of an issuer, from where it publishes them. They are fetched again when a token names a key that is not among
// them, but never more often than every half minute; while the issuer cannot be reached, those we have serve for a day.
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { Fault } from "../faults.ts";

const MIN_REFRESH_INTERVAL_MS = 30_000;
/** From the first on, keys are renewed while the old ones serve; from the second on, they are waited for. */
const BACKGROUND_REFRESH_AFTER_MS = 10 * 60_000;
const BLOCKING_REFRESH_AFTER_MS = 14 * 60_000;
const MAX_STALE_MS = 24 * 60 * 60_000;
const FETCH_MS = 5000;
const MOST_CHARACTERS = 512 * 1024;

export type HttpGet = (url: string, init: { redirect: "error"; signal: AbortSignal }) => Promise<Response>;
export type JwksSource = { issuer: string; jwks_uri?: string | undefined };

export function createJwks(publisher: JwksSource, get: HttpGet, clock: () => number): JWTVerifyGetKey {
  let find: ReturnType<typeof createLocalJWKSet> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let underWay: Promise<void> | undefined;

  const load = (): Promise<void> => {
    if (underWay) return underWay;
    if (clock() - triedAt < MIN_REFRESH_INTERVAL_MS) return Promise.resolve();
    triedAt = clock();
    underWay = fetchKeys(publisher, get)
      .then(
        (keys) => {
          find = createLocalJWKSet(keys);
          fetchedAt = clock();
        },
        () => {},
      )
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };

  return async (header, token) => {
    const age = clock() - fetchedAt;
    if (age > BLOCKING_REFRESH_AFTER_MS) await load();
    else if (age > BACKGROUND_REFRESH_AFTER_MS) void load();
    if (!find || clock() - fetchedAt > MAX_STALE_MS) throw new Fault("dependency_unavailable");
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
  const address = jwks_uri ?? (await discover(issuer, get));
  const { keys } = await readJson<JSONWebKeySet>(address, get);
  if (!Array.isArray(keys)) throw new Error(`${address} has no keys`);
  // A key that is meant for sealing, or that both sides would have to know, signs nothing.
  return { keys: keys.filter(({ kty, use }) => kty !== "oct" && use !== "enc") };
}

async function discover(issuer: string, get: HttpGet): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri } = await readJson<{ issuer?: string; jwks_uri?: string }>(address, get);
  if (named !== issuer || typeof jwks_uri !== "string") throw new Error(`${address} is not the issuer's`);
  return jwks_uri;
}

async function readJson<Shape>(address: string, get: HttpGet): Promise<Shape> {
  const response = await get(address, { redirect: "error", signal: AbortSignal.timeout(FETCH_MS) });
  const text = response.status === 200 ? await response.text() : "";
  if (text === "" || text.length > MOST_CHARACTERS) throw new Error(`${address} answered ${response.status}`);
  return JSON.parse(text) as Shape;
}
