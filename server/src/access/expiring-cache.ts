// Cache of credential lookups with a time to live of 4 s. A revoked credential is refused within 5 s by every process,
// and at once by the process that revoked it.
import type { Clock } from "../runtime/clock.ts";

/** Counted from the start of the lookup. The remaining second is for requests in flight. */
const TIME_TO_LIVE_MS = 4000;
const MAX_ENTRIES = 10_000;
const MAX_MISSING = 1000;

export type ExpiringCache<Value> = {
  /** Concurrent calls share one lookup. */
  get(key: string, lookUp: () => Promise<Value | undefined>): Promise<Value | undefined>;
  /** Whether `get` needs no lookup: the value, or that it is missing, is known. */
  has(key: string): boolean;
  clear(): void;
};

/**
 * `isMissingCached`: whether a lookup without a result is remembered too. For values that are created before anyone can
 * ask for them, such as API keys.
 */
export type ExpiringCacheOptions = { isMissingCached?: boolean };

export function createExpiringCache<Value>(
  clock: Pick<Clock, "now">,
  { isMissingCached = false }: ExpiringCacheOptions = {},
): ExpiringCache<Value> {
  const entries = new Map<string, { value: Promise<Value | undefined>; expiresAt: number; isFound?: boolean }>();
  // Kept apart, so that many lookups of missing values do not evict those that exist.
  const missing = new Map<string, number>();
  const remember = (key: string, expiresAt: number) => {
    missing.delete(key);
    missing.set(key, expiresAt);
    if (missing.size > MAX_MISSING) missing.delete(missing.keys().next().value!);
  };
  return {
    get(key, lookUp) {
      const cached = entries.get(key);
      if (cached && cached.expiresAt > clock.now()) return cached.value;
      if ((missing.get(key) ?? 0) > clock.now()) return Promise.resolve(undefined);
      const value = lookUp();
      const entry = { value, expiresAt: clock.now() + TIME_TO_LIVE_MS, isFound: false };
      entries.delete(key);
      entries.set(key, entry);
      const drop = () => entries.get(key)?.value === value && entries.delete(key);
      value.then((found) => {
        if (found !== undefined) {
          entry.isFound = true;
          // Only a found value evicts another one: lookups of missing values cannot empty a full cache.
          if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!);
          return;
        }
        if (drop() && isMissingCached) remember(key, entry.expiresAt);
      }, drop);
      return value;
    },
    has(key) {
      const entry = entries.get(key);
      const isFound = entry?.isFound === true && entry.expiresAt > clock.now();
      return isFound || (missing.get(key) ?? 0) > clock.now();
    },
    clear() {
      entries.clear();
      missing.clear();
    },
  };
}
