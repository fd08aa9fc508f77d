// Cache of credential lookups with a time to live of 4 s. A revoked credential is refused within 5 s by every process,
// and at once by the process that revoked it.
import type { Clock } from "../kit/clock.ts";

/** Counted from the start of the lookup. The remaining second is for requests in flight. */
const TIME_TO_LIVE_MS = 4000;
const MAX_ENTRIES = 10_000;

export type ExpiringCache<Value> = {
  /** Concurrent calls share one lookup. A missing value is not cached, because it may be created at any moment. */
  get(key: string, lookUp: () => Promise<Value | undefined>): Promise<Value | undefined>;
  clear(): void;
};

export function createExpiringCache<Value>(clock: Pick<Clock, "now">): ExpiringCache<Value> {
  const entries = new Map<string, { value: Promise<Value | undefined>; expiresAt: number }>();
  return {
    get(key, lookUp) {
      const cached = entries.get(key);
      if (cached && cached.expiresAt > clock.now()) return cached.value;
      const value = lookUp();
      entries.delete(key);
      entries.set(key, { value, expiresAt: clock.now() + TIME_TO_LIVE_MS });
      if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!);
      const drop = () => entries.get(key)?.value === value && entries.delete(key);
      value.then((found) => found ?? drop(), drop);
      return value;
    },
    clear: () => entries.clear(),
  };
}
