// Creates an API key for an operator who has lost all others. Access to the database is the proof: with it, a key could
// be inserted by hand. The audit log of the tenant names the account of the database.
import { insertOwnerKey } from "../db/access/bootstrap-keys.ts";
import type { Database } from "../db/connect.ts";
import type { Ids } from "../runtime/clock.ts";
import { newApiKeyRow } from "./keys.ts";

type OwnerKeyInput = { name: string; tenant_id?: string | undefined };
export type OwnerKey = { key: string; id: string; tenant_id: string; user_id: string; scopes: string[] };

/** Undefined if the database has no such tenant. */
export async function createOwnerKey(
  { database, ids, cell }: { database: Database; ids: Pick<Ids, "next">; cell: string },
  request: OwnerKeyInput,
): Promise<OwnerKey | undefined> {
  const { key, ...secret } = newApiKeyRow({ ids, cell });
  const holder = await insertOwnerKey(database, { ...request, ...secret });
  return holder && { key, id: secret.key_id, ...holder };
}
