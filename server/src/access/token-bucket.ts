// The local share of a distributed token bucket. Each process takes a slice of tokens sized to its demand of the next 200 ms and
// returns idle tokens after one second. Every token is handed out once, so all processes together never exceed the limit.
import type { TokenBucket, TokenGrant } from "../db/access/token-buckets.ts";

/** A slice lasts about this long, and what is not used by then goes back. */
const SLICE_SECONDS = 0.2;
const KEEP_MS = 1000;
/** An empty bucket is not asked more often than this: what comes in meanwhile is kept in it, and nothing is lost. */
const EMPTY_MS = 100;

export type TakeTokens = (bucket: TokenBucket, amount: { want: number; back: number }) => Promise<TokenGrant>;

/** `seconds`: until there is more; until the bucket is full again where something is left. */
export type BucketState = { remaining: number; seconds: number };

export type LocalTokenBucket = {
  /** False: nothing is left for now. */
  take(): Promise<boolean>;
  /** A token that was taken and not used. */
  refund(): void;
  state(): BucketState;
  /** Returns what lies idle; answers whether nothing is held any more. */
  returnIdleTokens(): Promise<boolean>;
};

export function createLocalTokenBucket(
  bucket: TokenBucket,
  takeTokens: TakeTokens,
  clock: () => number = () => performance.now(),
): LocalTokenBucket {
  let localTokens = 0;
  let sharedTokens = bucket.capacity;
  let asking: Promise<void> | undefined;
  let emptyUntil = Number.NEGATIVE_INFINITY;
  let usedAt = clock();
  /** What was wanted lately, fading by the second: so much a second, more or less. */
  let demand = 0;
  let waiting = 0;

  const ask = async () => {
    const want = Math.max(1, waiting, Math.min(Math.ceil(demand * SLICE_SECONDS), Math.floor(bucket.capacity / 10)));
    const { granted, remaining } = await takeTokens(bucket, { want, back: 0 });
    localTokens += granted;
    sharedTokens = remaining;
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
      while (localTokens < 1) {
        if (clock() < emptyUntil) return false;
        await stock();
      }
      localTokens--;
      return true;
    },
    refund() {
      localTokens++;
      emptyUntil = Number.NEGATIVE_INFINITY;
    },
    state() {
      const remaining = Math.floor(localTokens + sharedTokens);
      if (remaining >= 1) return { remaining, seconds: Math.ceil((bucket.capacity - remaining) / bucket.perSecond) };
      const seconds = emptyUntil > clock() ? (emptyUntil - clock()) / 1000 : (1 - sharedTokens) / bucket.perSecond;
      return { remaining: 0, seconds: Math.max(1, Math.ceil(seconds)) };
    },
    async returnIdleTokens() {
      if (clock() - usedAt < KEEP_MS || asking) return false;
      const back = localTokens;
      localTokens = 0;
      if (back === 0) return true;
      const { remaining } = await takeTokens(bucket, { want: 0, back });
      sharedTokens = remaining;
      return localTokens === 0;
    },
  };
}
