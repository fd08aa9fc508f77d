// Finds the URL and the API key of the `gesso dev` that runs on a data directory.
import { resolve } from "node:path";
import { findLockHolder } from "./lock.ts";
import { readClientEnvironment } from "./state.ts";

/** Undefined if no process holds the lock: `dev.env` outlives the process that wrote it. */
export function findRunningInstance(data: string): { url: string; key: string } | undefined {
  const dataDir = resolve(data);
  if (findLockHolder(dataDir) === undefined) return undefined;
  const { GESSO_URL: url, GESSO_API_KEY: key } = readClientEnvironment(dataDir);
  return url && key ? { url, key } : undefined;
}
