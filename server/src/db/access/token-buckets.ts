// Token buckets shared by all processes. A process takes several tokens at a time and returns those it did not use,
// so that most requests need no statement. Buckets that are needed at the same time share a statement.
import type { Database } from "../connect.ts";
import { gather } from "../gather.ts";
import { statement } from "../statement.ts";

export type TokenBucket = { name: string; capacity: number; perSecond: number };

export type TokenGrant = { granted: number; remaining: number };

const TAKE = statement(
  "token_buckets.take",
  `select granted, remaining
   from unnest(:buckets::text[], :capacities::float[], :per_second::float[], :wanted::int[], :returned::int[])
     with ordinality as asked (bucket, capacity, per_second, want, back, place)
   cross join lateral take_tokens(bucket, capacity, per_second, want, back)
   order by place`,
).columns<TokenGrant>();

type Taking = TokenBucket & { want: number; back: number };

/** In the order of the names, so that statements of several buckets lock them in the same order. */
const take = gather<Taking, TokenGrant>({
  keyOf: ({ name }) => name,
  execute: (db, takings) =>
    db.execute(TAKE, {
      buckets: takings.map(({ name }) => name),
      capacities: takings.map(({ capacity }) => capacity),
      per_second: takings.map(({ perSecond }) => perSecond),
      wanted: takings.map(({ want }) => want),
      returned: takings.map(({ back }) => back),
    }),
});

/** Returns `back` tokens to the bucket, then takes up to `want`. */
export const takeTokens = (
  db: Database,
  bucket: TokenBucket,
  amount: { want: number; back: number },
): Promise<TokenGrant> => take(db, { ...bucket, ...amount });
