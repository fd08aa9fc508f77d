// Idempotency keys: the part of a creating statement that stores the caller's key, and the look-up of a key. The key
// and the resource are inserted together, or neither is if another request holds the key.

import type { Database } from "./connect.ts";
import { statement } from "./statement.ts";
import type { ResourceKind } from "./typed-columns.ts";

/** `caller_id`: whose key it is. Two callers of a tenant may use the same key. */
export type NewIdempotencyKey = { key: string; fingerprint: Buffer; caller_id: string };

type IdempotencyKeySql = {
  kind: ResourceKind;
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
export const insertIdempotencyKeySql = ({
  kind,
  resource,
  tenant = ":tenant_id",
  from,
  when = "true",
}: IdempotencyKeySql) =>
  `idempotency as (
     insert into idempotency_keys (tenant_id, key, fingerprint, resource_kind, resource_id, caller_id)
     select ${tenant}, :idempotency_key?, :fingerprint?, '${kind}', ${resource}, :caller_id?
     ${from ? `from ${from}` : ""}
     where :idempotency_key?::text is not null and ${when}
     on conflict do nothing returning resource_id
   )`;

/** True if the request has no key, or `insertIdempotencyKeySql` has inserted it. */
export const IDEMPOTENCY_KEY_IS_FREE = "(:idempotency_key?::text is null or exists (select from idempotency))";

export const idempotencyParameters = (idempotency: NewIdempotencyKey | undefined) => ({
  idempotency_key: idempotency?.key,
  fingerprint: idempotency?.fingerprint,
  caller_id: idempotency?.caller_id,
});

export type IdempotencyKeyRow = { fingerprint: Buffer; resource_kind: ResourceKind; resource_id: string };

const FIND = statement(
  "idempotency_keys.find",
  `select fingerprint, resource_kind, resource_id from idempotency_keys
   where tenant_id = :tenant_id and key = :key and caller_id = :caller_id`,
);

export type KeyOwner = { tenant_id: string; caller_id: string };

export async function findIdempotencyKey(
  db: Database,
  { tenant_id, caller_id }: KeyOwner,
  key: string,
): Promise<IdempotencyKeyRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id, caller_id, key });
  return row;
}
