// One bucket as one process holds it: a slice of its tokens in hand, and what is known of the rest. A slice is as large as
// what this process uses in a moment, so that processes do not keep from each other what they do not need; a token is only
// ever given out once, so that together they never give out too many.
import type { Bucket, Granted } from "../db/buckets.ts";

/** A slice lasts about this long, and what is not used by then goes back. */
const SLICE_SECONDS = 0.2;
const KEEP_MS = 1000;
/** An empty bucket is not asked more often than this: what comes in meanwhile is kept in it, and nothing is lost. */
const EMPTY_MS = 100;

export type Take = (bucket: Bucket, amount: { want: number; back: number }) => Promise<Granted>;

/** `seconds`: until there is more; until the bucket is full again where something is left. */
export type Stand = { remaining: number; seconds: number };

export type Slice = {
  /** False: nothing is left for now. */
  take(): Promise<boolean>;
  /** A token that was taken and not used. */
  giveBack(): void;
  stand(): Stand;
  /** Returns what lies idle; answers whether nothing is held any more. */
  tidy(): Promise<boolean>;
};

export function createSlice(bucket: Bucket, takeTokens: Take, clock: () => number = () => performance.now()): Slice {
  let inHand = 0;
  let elsewhere = bucket.most;
  let asking: Promise<void> | undefined;
  let emptyUntil = Number.NEGATIVE_INFINITY;
  let usedAt = clock();
  /** What was wanted lately, fading by the second: so much a second, more or less. */
  let demand = 0;
  let waiting = 0;

  const ask = async () => {
    const want = Math.max(1, waiting, Math.min(Math.ceil(demand * SLICE_SECONDS), Math.floor(bucket.most / 10)));
    const { granted, remaining } = await takeTokens(bucket, { want, back: 0 });
    inHand += granted;
    elsewhere = remaining;
    if (granted === 0) emptyUntil = clock() + Math.max(EMPTY_MS, ((1 - remaining) / bucket.perSecond) * 1000);
  };
  const stock = async () => {
    waiting++;
    try {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      await asking;
    } finally {
      waiting--;
    }
  };

  return {
    async take() {
      const now = clock();
      demand = demand * Math.exp((usedAt - now) / 1000) + 1;
      usedAt = now;
      while (inHand < 1) {
        if (clock() < emptyUntil) return false;
        await stock();
      }
      inHand--;
      return true;
    },
    giveBack() {
      inHand++;
      emptyUntil = Number.NEGATIVE_INFINITY;
    },
    stand() {
      const remaining = Math.floor(inHand + elsewhere);
      if (remaining >= 1) return { remaining, seconds: Math.ceil((bucket.most - remaining) / bucket.perSecond) };
      const seconds = emptyUntil > clock() ? (emptyUntil - clock()) / 1000 : (1 - elsewhere) / bucket.perSecond;
      return { remaining: 0, seconds: Math.max(1, Math.ceil(seconds)) };
    },
    async tidy() {
      if (clock() - usedAt < KEEP_MS || asking) return false;
      const back = inHand;
      inHand = 0;
      if (back === 0) return true;
      const { remaining } = await takeTokens(bucket, { want: 0, back });
      elsewhere = remaining;
      return inHand === 0;
    },
  };
}
