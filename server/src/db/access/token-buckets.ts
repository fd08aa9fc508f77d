// Buckets of tokens that all processes share. A process takes some at a time and returns what it did not use, so that most
// requests need not ask.
import type { Database } from "../connect.ts";

export type TokenBucket = { name: string; capacity: number; perSecond: number };

export type TokenGrant = { granted: number; remaining: number };

/** Returns `back`, then takes up to `want`. */
export async function takeTokens(
  db: Database,
  bucket: TokenBucket,
  { want: requested, back: returned }: { want: number; back: number },
): Promise<TokenGrant> {
  const [row] = await db.query<TokenGrant>(
    "buckets.take",
    "select granted, remaining from take_tokens($1, $2, $3, $4, $5)",
    [bucket.name, bucket.capacity, bucket.perSecond, requested, returned],
  );
  return row!;
}
