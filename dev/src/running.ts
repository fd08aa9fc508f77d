// Where the `gesso dev` of a data directory is reached, for programs beside it.
import { join, resolve } from "node:path";
import { holderOf } from "./lock.ts";
import { text } from "./processes.ts";

/** Undefined where none runs: its address and key are still in the file, but nobody is there. */
export function runningGesso(data: string): { url: string; key: string } | undefined {
  const dataDir = resolve(data);
  if (holderOf(dataDir) === undefined) return undefined;
  const file = text(join(dataDir, "dev.env")) ?? "";
  const read = (name: string) => new RegExp(`^${name}=(.+)$`, "m").exec(file)?.[1];
  const [url, key] = [read("GESSO_URL"), read("GESSO_DEV_KEY")];
  return url && key ? { url, key } : undefined;
}
