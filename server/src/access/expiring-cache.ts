// Cache of credential lookups with a time to live of 4 s. A revoked credential is refused within 5 s by every process, and at once by
// the process that revoked it.

/** Counted from before the question is asked, and with time left for a request that is on its way. */
const TIME_TO_LIVE_MS = 4000;
const MAX_ENTRIES = 10_000;

export type ExpiringCache<Value> = {
  /** Only what is there is remembered: what is not may be there in a moment. Those who ask at once share one question. */
  get(name: string, look: () => Promise<Value | undefined>): Promise<Value | undefined>;
  forget(): void;
};

export function createExpiringCache<Value>(clock: () => number): ExpiringCache<Value> {
  const known = new Map<string, { value: Promise<Value | undefined>; until: number }>();
  return {
    get(name, look) {
      const remembered = known.get(name);
      if (remembered && remembered.until > clock()) return remembered.value;
      const value = look();
      known.delete(name);
      known.set(name, { value, until: clock() + TIME_TO_LIVE_MS });
      if (known.size > MAX_ENTRIES) known.delete(known.keys().next().value!);
      const drop = () => known.get(name)?.value === value && known.delete(name);
      value.then((found) => found ?? drop(), drop);
      return value;
    },
    forget: () => known.clear(),
  };
}
