// Buckets of tokens that all processes share. A process takes some at a time and returns what it did not use, so that most
// requests need not ask.
import type { Database } from "./connect.ts";

export type Bucket = { name: string; most: number; perSecond: number };

export type Granted = { granted: number; remaining: number };

/** Returns `back`, then takes up to `want`. */
export async function takeTokens(
  db: Database,
  bucket: Bucket,
  { want, back }: { want: number; back: number },
): Promise<Granted> {
  const [row] = await db.query<Granted>(
    "buckets.take",
    "select granted, remaining from take_tokens($1, $2, $3, $4, $5)",
    [bucket.name, bucket.most, bucket.perSecond, want, back],
  );
  return row!;
}
