// Finds the output of a tenant, or of one of its end users, that looks most like an image. All fingerprints of the
// tenant are compared, from an index that has nothing else; only the files of similar ones are read.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

const FIND_SIMILAR = statement(
  "fingerprints.find_similar",
  `with similar_ones as materialized (
     select distinct a.fingerprint, d.distance
     from assets a
     cross join lateral (
       select min(bit_count(a.fingerprint # f::bit(128)))::int as distance from unnest(:fingerprints::text[]) f
     ) d
     where a.tenant_id = :tenant_id and a.fingerprint is not null and d.distance <= :max_distance::int
   )
   select a.asset_id, a.run_id, s.distance
   from similar_ones s
   cross join lateral (
     select asset_id, run_id from assets
     where tenant_id = :tenant_id and fingerprint = s.fingerprint and deleted_at is null
     order by asset_id limit 1
   ) a
   order by s.distance, a.asset_id limit 1`,
).columns<SimilarImage>();

/** Only the files of the end user's runs are compared: there are few, and the index of all has no run. */
const FIND_SIMILAR_OF_END_USER = statement(
  "fingerprints.find_similar_of_end_user",
  `select theirs.asset_id, theirs.run_id, theirs.distance
   from runs cross join lateral (
     select asset_id, run_id,
       (select min(bit_count(fingerprint # f::bit(128)))::int from unnest(:fingerprints::text[]) f) as distance
     from assets
     where assets.run_id = runs.run_id and assets.tenant_id = :tenant_id and fingerprint is not null
       and assets.deleted_at is null
   ) as theirs
   where runs.tenant_id = :tenant_id and runs.end_user = :end_user and theirs.distance <= :max_distance::int
   order by theirs.distance, theirs.asset_id limit 1`,
).columns<SimilarImage>();

/** `asset_id`: the small thumbnail of the output. `distance`: bits that differ from the nearest of the given ones. */
export type SimilarImage = { asset_id: string; run_id: string; distance: number };

export async function findSimilarImage(
  db: Database,
  tenantId: string,
  fingerprints: string[],
  maxDistance: number,
): Promise<SimilarImage | undefined> {
  const parameters = { tenant_id: tenantId, fingerprints, max_distance: maxDistance };
  const [row] =
    db.endUser === undefined
      ? await db.execute(FIND_SIMILAR, parameters)
      : await db.execute(FIND_SIMILAR_OF_END_USER, { ...parameters, end_user: db.endUser });
  return row;
}
