// Persists the state of a data directory between starts: generated secrets and the ports used last.
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateApiKey, hasValidApiKeySyntax } from "./api-key.ts";
import { readText } from "./process-info.ts";

export type SavedState = {
  secret: string;
  sandboxKey: string;
  apiKey: string;
  ports: Record<string, number>;
};

/** Reads the stored state and generates what is missing. Existing secrets are never replaced. */
export function loadState(dataDir: string): SavedState {
  mkdirSync(dataDir, { recursive: true });
  // Other users may traverse the directory (PostgreSQL does not run as root); files with secrets have mode 0600.
  chmodSync(dataDir, 0o755);
  const stored = JSON.parse(readText(join(dataDir, "state.json")) ?? "{}") as Partial<SavedState>;
  const apiKey = readClientEnvironment(dataDir).GESSO_API_KEY ?? "";
  return {
    secret: stored.secret ?? randomBytes(32).toString("base64url"),
    sandboxKey: stored.sandboxKey ?? randomBytes(24).toString("base64url"),
    apiKey: hasValidApiKeySyntax(apiKey) ? apiKey : generateApiKey(),
    ports: stored.ports ?? {},
  };
}

export function saveState(dataDir: string, state: SavedState, url: string): void {
  const { apiKey, ...rest } = state;
  writeAtomically(join(dataDir, "state.json"), `${JSON.stringify(rest, null, 2)}\n`);
  writeAtomically(join(dataDir, "dev.env"), `export GESSO_URL=${url}\nexport GESSO_API_KEY=${apiKey}\n`);
  // The data directory often lies inside a Git repository, and its secrets must not be committed.
  writeAtomically(join(dataDir, ".gitignore"), "*\n");
}

/**
 * The variables in `dev.env`. It is a shell script, so that `source .gesso/dev.env` configures clients and commands.
 */
export function readClientEnvironment(dataDir: string): { GESSO_URL?: string; GESSO_API_KEY?: string } {
  const lines = readText(join(dataDir, "dev.env")) ?? "";
  return Object.fromEntries([...lines.matchAll(/^(?:export )?(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]));
}

/** Saves the settings of the server, so that `gesso doctor` can check the same dependencies. */
export function saveEnvironment(dataDir: string, environment: Record<string, string>): void {
  writeAtomically(join(dataDir, "environment.json"), `${JSON.stringify(environment, null, 2)}\n`);
}

export const loadEnvironment = (dataDir: string): Record<string, string> =>
  JSON.parse(readText(join(dataDir, "environment.json")) ?? "{}");

/** Atomic, because a truncated secret would make the stored data unreadable. */
export function writeAtomically(path: string, content: string): void {
  writeFileSync(`${path}.draft`, content, { mode: 0o600 });
  renameSync(`${path}.draft`, path);
}
