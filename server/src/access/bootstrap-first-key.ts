// First start of an installation: creates its first API key. A key from the settings is registered as it is; without
// one, a key is generated and shown once.
import { insertFirstKey, upsertDevelopmentKey } from "../db/access/bootstrap-keys.ts";
import type { Database } from "../db/connect.ts";
import { apiKeyHint, generateApiKey, hashApiKey } from "./api-key.ts";

/** Returns the key that was generated, or undefined if the installation has keys already. */
export async function bootstrapFirstKey(
  database: Database,
  { GESSO_API_KEY: configuredKey, CELL: cell }: { GESSO_API_KEY?: string | undefined; CELL?: string },
) {
  await upsertDevelopmentKey(
    database,
    configuredKey === undefined ? undefined : { digest: hashApiKey(configuredKey), hint: apiKeyHint(configuredKey) },
  );
  if (configuredKey !== undefined) return undefined;
  const key = generateApiKey(cell);
  return (await insertFirstKey(database, { digest: hashApiKey(key), hint: apiKeyHint(key) })) ? key : undefined;
}
