// Deletes stored files, as the outbox asks for it: the listed keys, and everything below the prefix of a deleted run.

import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault } from "../../faults/faults.ts";
import type { ObjectStorage } from "../../files/storage/object-storage.ts";

const RUN_PREFIX = /^t\/[0-9a-f-]{36}\/r\/[0-9a-f-]{36}\/$/;

/**
 * `run_prefix`: a repeated step can have stored a file again, for example with another signature, and only one of them
 * has a row. The sweep of orphans would leave the other one for a day.
 */
export async function deleteFiles(
  storage: Pick<ObjectStorage, "list" | "delete">,
  { keys, run_prefix }: JsonObject,
): Promise<void> {
  const found = new Set(keys as string[]);
  if (run_prefix !== undefined) {
    if (!RUN_PREFIX.test(String(run_prefix)))
      throw new Fault("internal_error", {}, { cause: "not the prefix of a run" });
    for await (const { key } of storage.list(String(run_prefix))) found.add(key);
  }
  await storage.delete([...found]);
}
