// Files of the archive: JSON Lines, compressed with gzip, named by tenant, kind, day, the SHA-256 of their text
// and a token, so that no two attempts write the same file.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { ArchiveBatch } from "../../db/archive/archive-batches.ts";
import type { ObjectStorage } from "../../files/storage/object-storage.ts";

const decompress = promisify(gunzip);
const hash = (text: Uint8Array | string) => createHash("sha256").update(text).digest("hex");

/** Below the prefix of the tenant, so that the deletion of the tenant finds the file. */
export const archiveKey = (
  { tenant_id, kind, day }: Pick<ArchiveBatch, "tenant_id" | "kind" | "day">,
  { sha256, token }: { sha256: string; token: string },
) => `t/${tenant_id}/archive/${kind}/${day}/${sha256}-${token}.jsonl.gz`;

export function buildArchiveFile(lines: readonly string[]): { sha256: string; bytes: Uint8Array } {
  const text = lines.map((line) => `${line}\n`).join("");
  return { sha256: hash(text), bytes: gzipSync(text) };
}

/** Whether the stored file has the text with this SHA-256. */
export async function isStoredIntact(storage: ObjectStorage, key: string, sha256: string): Promise<boolean> {
  const bytes = await storage.bytes(key);
  if (!bytes) return false;
  return decompress(bytes).then(
    (text) => hash(text) === sha256,
    () => false,
  );
}

/** The lines as they were written. Undefined if the storage does not have the file. */
export async function readArchiveLines(storage: ObjectStorage, key: string): Promise<string[] | undefined> {
  const bytes = await storage.bytes(key);
  if (!bytes) return undefined;
  const text = (await decompress(bytes)).toString("utf8");
  return text.split("\n").filter((line) => line !== "");
}

/** Undefined if the storage does not have the file. */
export async function readArchiveFile(storage: ObjectStorage, key: string): Promise<JsonObject[] | undefined> {
  const lines = await readArchiveLines(storage, key);
  return lines?.map((line) => JSON.parse(line) as JsonObject);
}
