// What an empty installation begins with: an owner, and a key to come in with. The key of the settings is registered as it
// is; without one, a key is made at the first start and shown once.
import type { Database } from "../db/connect.ts";
import { addFirstKey, setDevelopmentKey } from "../db/first-key.ts";
import { digestOf, hintOf, makeApiKey } from "./api-key.ts";

/** The key that has just been made, if one was. */
export async function openDoor(db: Database, { GESSO_DEV_KEY: given }: { GESSO_DEV_KEY?: string | undefined }) {
  await setDevelopmentKey(db, given === undefined ? undefined : { digest: digestOf(given), hint: hintOf(given) });
  if (given !== undefined) return undefined;
  const key = makeApiKey();
  return (await addFirstKey(db, { digest: digestOf(key), hint: hintOf(key) })) ? key : undefined;
}
