// The local share of a distributed token bucket. Each process takes a slice of tokens sized to its demand of the next
// 200 ms and returns idle tokens after one second. Every token is handed out once, so all processes together never
// exceed the limit.
import type { TokenBucket, TokenGrant } from "../../db/access/token-buckets.ts";
import type { Clock } from "../../runtime/clock.ts";

/** A slice covers the demand of about this time. Tokens that are idle for `KEEP_MS` are returned. */
const SLICE_SECONDS = 0.2;
const KEEP_MS = 1000;
/** Minimum time between two requests to an empty bucket. It keeps refilling meanwhile, so no tokens are lost. */
const EMPTY_MS = 100;

export type TakeTokens = (bucket: TokenBucket, amount: { want: number; back: number }) => Promise<TokenGrant>;

/** `seconds`: until the bucket is full again, or, if it is empty, until the next token. */
export type BucketState = { remaining: number; seconds: number };

export type LocalTokenBucket = {
  /** Returns false if the bucket is empty. */
  take(): Promise<boolean>;
  /** Returns a token that was taken and not used. */
  refund(): void;
  state(): BucketState;
  /** Returns idle tokens to the shared bucket. Resolves to true if no tokens are left here. */
  returnIdleTokens(): Promise<boolean>;
};

export function createLocalTokenBucket(
  bucket: TokenBucket,
  takeTokens: TakeTokens,
  clock: Pick<Clock, "monotonic">,
): LocalTokenBucket {
  let localTokens = 0;
  let sharedTokens = bucket.capacity;
  let pendingRequest: Promise<void> | undefined;
  let emptyUntil = Number.NEGATIVE_INFINITY;
  let usedAt = clock.monotonic();
  /** Recent demand in tokens per second, decaying exponentially. */
  let demand = 0;
  /** Callers of `take` that have no token yet. */
  let waiting = 0;

  const requestTokens = async () => {
    const want = Math.max(1, waiting, Math.min(Math.ceil(demand * SLICE_SECONDS), Math.floor(bucket.capacity / 10)));
    const { granted, remaining } = await takeTokens(bucket, { want, back: 0 });
    localTokens += granted;
    sharedTokens = remaining;
    if (granted === 0) emptyUntil = clock.monotonic() + Math.max(EMPTY_MS, ((1 - remaining) / bucket.perSecond) * 1000);
  };
  const refill = () => {
    pendingRequest ??= requestTokens().finally(() => {
      pendingRequest = undefined;
    });
    return pendingRequest;
  };

  return {
    async take() {
      const now = clock.monotonic();
      demand = demand * Math.exp((usedAt - now) / 1000) + 1;
      usedAt = now;
      waiting++;
      try {
        while (localTokens < 1) {
          if (clock.monotonic() < emptyUntil) return false;
          await refill();
        }
        localTokens--;
        return true;
      } finally {
        waiting--;
      }
    },
    refund() {
      localTokens++;
      emptyUntil = Number.NEGATIVE_INFINITY;
    },
    state() {
      const remaining = Math.floor(localTokens + sharedTokens);
      if (remaining >= 1) return { remaining, seconds: Math.ceil((bucket.capacity - remaining) / bucket.perSecond) };
      const seconds =
        emptyUntil > clock.monotonic()
          ? (emptyUntil - clock.monotonic()) / 1000
          : (1 - sharedTokens) / bucket.perSecond;
      return { remaining: 0, seconds: Math.max(1, Math.ceil(seconds)) };
    },
    async returnIdleTokens() {
      if (clock.monotonic() - usedAt < KEEP_MS || pendingRequest) return false;
      const back = localTokens;
      localTokens = 0;
      if (back === 0) return true;
      const { remaining } = await takeTokens(bucket, { want: 0, back });
      sharedTokens = remaining;
      return localTokens === 0;
    },
  };
}
