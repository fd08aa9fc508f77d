// The part of a creating statement that stores the caller's idempotency key: the key and the resource are inserted
// together, or neither is if another request holds the key.

export type NewIdempotencyKey = { key: string; fingerprint: Buffer };

type IdempotencyKeySql = {
  /** SQL expression for the id of the new resource. */
  resource: string;
  /** SQL expression for the tenant of the key. Default: the parameter `tenant_id`. */
  tenant?: string;
  /**
   * A CTE of the statement to select from, and a condition on its columns. Default: the key is inserted in any case.
   */
  from?: string;
  when?: string;
};

/** A CTE `idempotency` with one row if the key was free. Its parameters are `idempotencyParameters`. */
export const insertIdempotencyKeySql = ({ resource, tenant = ":tenant_id", from, when = "true" }: IdempotencyKeySql) =>
  `idempotency as (
     insert into idempotency_keys (tenant_id, key, fingerprint, resource_id)
     select ${tenant}, :idempotency_key?, :fingerprint?, ${resource} ${from ? `from ${from}` : ""}
     where :idempotency_key?::text is not null and ${when}
     on conflict do nothing returning resource_id
   )`;

/** True if the request has no key, or `insertIdempotencyKeySql` has inserted it. */
export const IDEMPOTENCY_KEY_IS_FREE = "(:idempotency_key?::text is null or exists (select from idempotency))";

export const idempotencyParameters = (idempotency: NewIdempotencyKey | undefined) => ({
  idempotency_key: idempotency?.key,
  fingerprint: idempotency?.fingerprint,
});
