// What an empty installation begins with: an owner, and a key to come in with. The key of the settings is registered as it
// is; without one, a key is made at the first start and shown once.

import { insertFirstKey, upsertDevelopmentKey } from "../db/access/bootstrap-keys.ts";
import type { Database } from "../db/connect.ts";
import { apiKeyHint, generateApiKey, hashApiKey } from "./api-key.ts";

/** The key that has just been made, if one was. */
export async function bootstrapFirstKey(
  db: Database,
  { GESSO_API_KEY: given }: { GESSO_API_KEY?: string | undefined },
) {
  await upsertDevelopmentKey(
    db,
    given === undefined ? undefined : { digest: hashApiKey(given), hint: apiKeyHint(given) },
  );
  if (given !== undefined) return undefined;
  const key = generateApiKey();
  return (await insertFirstKey(db, { digest: hashApiKey(key), hint: apiKeyHint(key) })) ? key : undefined;
}
