// One idempotency key per state of the form: pressing Run again at once, or after a lost response, repeats the request
// instead of paying for a second run. A later press with the same form is meant as a new run.
type KeyEntry = { key: string; usedAt: number; isAccepted: boolean };

/** Presses that follow each other faster are taken for one. */
const REPEAT_MS = 2000;
const MAX_ENTRIES = 50;

export type IdempotencyKeys = {
  /** The key for a request with this fingerprint. */
  keyFor(fingerprint: string): string;
  /** The server has accepted or refused the request, so its outcome is known. */
  settle(fingerprint: string): void;
};

type KeySources = { now(): number; createKey(): string };

export function createIdempotencyKeys({ now, createKey }: KeySources): IdempotencyKeys {
  const entries = new Map<string, KeyEntry>();
  return {
    keyFor(fingerprint) {
      const known = entries.get(fingerprint);
      const isRepeat = known && (!known.isAccepted || now() - known.usedAt < REPEAT_MS);
      const entry = isRepeat ? { ...known, usedAt: now() } : { key: createKey(), usedAt: now(), isAccepted: false };
      entries.delete(fingerprint);
      entries.set(fingerprint, entry);
      const [oldest] = entries.keys();
      if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
      return entry.key;
    },
    settle(fingerprint) {
      const known = entries.get(fingerprint);
      if (known) entries.set(fingerprint, { ...known, isAccepted: true });
    },
  };
}
