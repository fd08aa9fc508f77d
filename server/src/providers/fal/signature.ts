// Verifies the signature of fal's callbacks with its published keys, including the time.
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { z } from "zod";
import { callProvider } from "../call-provider.ts";
import type { ProviderContext } from "../provider.ts";
import type { FalEnv } from "./settings.ts";

const TOLERANCE_SECONDS = 300;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Minimum interval between key downloads, if a signature matches no known key. */
const REFRESH_INTERVAL_MS = 60 * 1000;

const Keys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

type CachedKeys = { keys: KeyObject[]; at: number };
/** Keys by the URL of their list. */
const cache = new Map<string, CachedKeys>();

/** Returns the job ID of a valid callback; undefined otherwise. */
export async function signedRequestId(
  { headers, body }: { headers: Headers; body: string },
  context: ProviderContext<FalEnv>,
): Promise<string | undefined> {
  const [requestId, userId, time, signature] = ["request-id", "user-id", "timestamp", "signature"].map((name) =>
    headers.get(`x-fal-webhook-${name}`),
  );
  if (!requestId || !userId || !time || !/^[0-9a-f]{128}$/i.test(signature ?? "")) return undefined;
  if (!(Math.abs(context.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS)) return undefined;
  const digest = createHash("sha256").update(body).digest("hex");
  const message = Buffer.from([requestId, userId, time, digest].join("\n"));
  const isSigned = (keys: KeyObject[]) =>
    keys.some((key) => verify(null, message, key, Buffer.from(signature!, "hex")));

  const first = await readPublicKeys(context, DAY_MS);
  if (isSigned(first.keys)) return requestId;
  const second = await readPublicKeys(context, REFRESH_INTERVAL_MS);
  return second !== first && isSigned(second.keys) ? requestId : undefined;
}

async function readPublicKeys(context: ProviderContext<FalEnv>, maxAgeMs: number): Promise<CachedKeys> {
  const origin = context.env.FAL_REST_URL;
  const before = cache.get(origin);
  if (before && context.now() - before.at < maxAgeMs) return before;
  const { keys } = await callProvider(context, {
    origin,
    url: `${origin}/.well-known/jwks.json`,
    hasNoSideEffects: true,
    reply: Keys,
  });
  const now = { keys: keys.filter(({ kty }) => kty === "OKP").map(publicKey), at: context.now() };
  cache.set(origin, now);
  return now;
}

const publicKey = (key: object) => createPublicKey({ key: key as JsonWebKey, format: "jwk" });
