// Token buckets shared by all processes. A process takes several tokens at a time and returns those it did not use,
// so that most requests need no statement.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type TokenBucket = { name: string; capacity: number; perSecond: number };

export type TokenGrant = { granted: number; remaining: number };

const TAKE = statement(
  "token_buckets.take",
  "select granted, remaining from take_tokens(:bucket, :capacity, :per_second, :want, :back)",
).columns<TokenGrant>();

/** Returns `back` tokens to the bucket, then takes up to `want`. */
export async function takeTokens(
  db: Database,
  { name, capacity, perSecond }: TokenBucket,
  { want, back }: { want: number; back: number },
): Promise<TokenGrant> {
  const [row] = await db.execute(TAKE, { bucket: name, capacity, per_second: perSecond, want, back });
  return row!;
}
