// What a data directory remembers between starts: secrets that are made once, and the ports of last time.

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateApiKey, hasValidApiKeySyntax } from "./api-key.ts";
import { readText } from "./process-info.ts";

export type SavedState = {
  secret: string;
  sandboxKey: string;
  devKey: string;
  ports: Record<string, number>;
};

/** Reads what is there and makes what is missing. Nothing that exists is ever made anew. */
export function loadState(dataDir: string): SavedState {
  mkdirSync(dataDir, { recursive: true });
  // Other users may pass (PostgreSQL does not run as root), but everything secret in it is closed to them.
  chmodSync(dataDir, 0o755);
  const stored = JSON.parse(readText(join(dataDir, "state.json")) ?? "{}") as Partial<SavedState>;
  const devKey = /^GESSO_(?:API|DEV)_KEY=(.*)$/m.exec(readText(join(dataDir, "dev.env")) ?? "")?.[1] ?? "";
  return {
    secret: stored.secret ?? randomBytes(32).toString("base64url"),
    sandboxKey: stored.sandboxKey ?? randomBytes(24).toString("base64url"),
    devKey: hasValidApiKeySyntax(devKey) ? devKey : generateApiKey(),
    ports: stored.ports ?? {},
  };
}

export function saveState(dataDir: string, state: SavedState, url: string): void {
  const { devKey, ...rest } = state;
  writeAtomically(join(dataDir, "state.json"), `${JSON.stringify(rest, null, 2)}\n`);
  writeAtomically(join(dataDir, "dev.env"), `GESSO_URL=${url}\nGESSO_API_KEY=${devKey}\n`);
  // The directory often lies in somebody's repository, and its secrets must not be committed.
  writeAtomically(join(dataDir, ".gitignore"), "*\n");
}

/** What the server was last started with, for others who want to look at the same parts. */
export function saveEnvironment(dataDir: string, environment: Record<string, string>): void {
  writeAtomically(join(dataDir, "environment.json"), `${JSON.stringify(environment, null, 2)}\n`);
}

export const loadEnvironment = (dataDir: string): Record<string, string> =>
  JSON.parse(readText(join(dataDir, "environment.json")) ?? "{}");

/** Whole or not at all: a secret that is half written would lock its owner out of the data. */
function writeAtomically(path: string, content: string): void {
  writeFileSync(`${path}.draft`, content, { mode: 0o600 });
  renameSync(`${path}.draft`, path);
}
