// Where the `gesso dev` of a data directory is reached, for programs beside it.
import { join, resolve } from "node:path";
import { findLockHolder } from "./lock.ts";
import { readText } from "./process-info.ts";

/** Undefined where none runs: its address and key are still in the file, but nobody is there. */
export function findRunningInstance(data: string): { url: string; key: string } | undefined {
  const dataDir = resolve(data);
  if (findLockHolder(dataDir) === undefined) return undefined;
  const file = readText(join(dataDir, "dev.env")) ?? "";
  const read = (name: string) => new RegExp(`^${name}=(.+)$`, "m").exec(file)?.[1];
  const [url, key] = [read("GESSO_URL"), read("GESSO_API_KEY") ?? read("GESSO_DEV_KEY")];
  return url && key ? { url, key } : undefined;
}
