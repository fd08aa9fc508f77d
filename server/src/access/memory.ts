// What the database said lately, for a few seconds: whatever is taken away is refused by every process within five
// seconds, and by the process that took it away at once.

/** Counted from before the question is asked, and with time left for a request that is on its way. */
const REMEMBER_MS = 4000;
const MOST = 10_000;

export type Memory<Value> = {
  /** Only what is there is remembered: what is not may be there in a moment. Those who ask at once share one question. */
  get(name: string, look: () => Promise<Value | undefined>): Promise<Value | undefined>;
  forget(): void;
};

export function createMemory<Value>(clock: () => number): Memory<Value> {
  const known = new Map<string, { value: Promise<Value | undefined>; until: number }>();
  return {
    get(name, look) {
      const remembered = known.get(name);
      if (remembered && remembered.until > clock()) return remembered.value;
      const value = look();
      known.delete(name);
      known.set(name, { value, until: clock() + REMEMBER_MS });
      if (known.size > MOST) known.delete(known.keys().next().value!);
      const drop = () => known.get(name)?.value === value && known.delete(name);
      value.then((found) => found ?? drop(), drop);
      return value;
    },
    forget: () => known.clear(),
  };
}
