// Finds API keys by their digest or id, with a short-lived cache, and records when a key was last used.
import { findKeyHolder, type KeyHolder, recordKeyUse } from "../db/access/api-keys.ts";
import type { Caller } from "../db/access/caller.ts";
import type { Database } from "../db/connect.ts";
import { Fault } from "../faults/faults.ts";
import type { Clock } from "../runtime/clock.ts";
import { createExpiringCache } from "./expiring-cache.ts";
import { intersectScopes, listGrantableScopes, missingScopes } from "./scopes.ts";

const LAST_USED_INTERVAL_MS = 60_000;
const MAX_REMEMBERED_KEYS = 10_000;

/** A key itself is found by its digest; the key of an access token by its id. */
export type ApiKeyRef = { digest: Buffer } | { key_id: string };

export type ApiKeyLookup = {
  /** Returns undefined if the key does not exist, is revoked or has expired. Throws if its tenant is suspended. */
  find(key: ApiKeyRef): Promise<Caller | undefined>;
  /** Whether the key was valid at its last lookup, or was looked up a moment ago, so that `find` needs no query. */
  isKnown(key: ApiKeyRef): boolean;
  /** Clears the cache. */
  invalidate(): void;
};

export function createApiKeyLookup(database: Database, clock: Pick<Clock, "now">): ApiKeyLookup {
  const holders = createExpiringCache<KeyHolder>(clock, { isMissingCached: true });
  const lastUsedAt = new Map<string, number>();
  /** Keys that were valid at their last lookup. Unlike `holders`, it does not expire: it admits no one by itself. */
  const validKeys = new Set<string>();

  const findHolder = async (key: ApiKeyRef) => {
    const cacheKey = cacheKeyOf(key);
    const holder = await holders.get(cacheKey, () => findKeyHolder(database, key));
    validKeys.delete(cacheKey);
    if (holder) validKeys.add(cacheKey);
    if (validKeys.size > MAX_REMEMBERED_KEYS) validKeys.delete(validKeys.values().next().value!);
    return holder;
  };

  const recordUse = (keyId: string) => {
    const last = lastUsedAt.get(keyId);
    if (last !== undefined && clock.now() - last < LAST_USED_INTERVAL_MS) return;
    lastUsedAt.delete(keyId);
    lastUsedAt.set(keyId, clock.now());
    if (lastUsedAt.size > MAX_REMEMBERED_KEYS) lastUsedAt.delete(lastUsedAt.keys().next().value!);
    recordKeyUse(database, keyId).catch(() => lastUsedAt.delete(keyId));
  };
  return {
    async find(key) {
      const holder = await findHolder(key);
      if (!holder || (holder.expires_at && holder.expires_at.getTime() <= clock.now())) return undefined;
      if (holder.is_suspended) throw new Fault("tenant_suspended");
      recordUse(holder.key_id);
      return toCaller(holder);
    },
    isKnown: (key) => holders.has(cacheKeyOf(key)) || validKeys.has(cacheKeyOf(key)),
    invalidate: holders.clear,
  };
}

const cacheKeyOf = (key: ApiKeyRef) => ("digest" in key ? key.digest.toString("base64") : key.key_id);

function narrowScopes(above: string[], scopes: string[]): string[] {
  const bound = listGrantableScopes(above);
  return missingScopes(bound, scopes).length === 0 ? scopes : intersectScopes(bound, scopes);
}

const toCaller = ({ weight, tenant_limits, is_suspended: _, ancestors, ...holder }: KeyHolder): Caller => ({
  ...holder,
  // A key above that was narrowed narrows the keys below.
  scopes: ancestors.reduce((scopes, above) => narrowScopes(above.scopes, scopes), holder.scopes),
  ancestors: ancestors.map(({ holder_id, limits }) => ({ holder_id, limits })),
  // A key with an expiry creates no key that outlives it.
  grants_until: holder.expires_at,
  tenant: { weight, limits: tenant_limits },
  token: null,
});
