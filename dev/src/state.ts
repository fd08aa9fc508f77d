// What a data directory remembers between starts: secrets that are made once, and the ports of last time.

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isApiKey, makeApiKey } from "./api-key.ts";
import { text } from "./processes.ts";

export type State = {
  secret: string;
  sandboxKey: string;
  devKey: string;
  ports: Record<string, number>;
};

/** Reads what is there and makes what is missing. Nothing that exists is ever made anew. */
export function loadState(dataDir: string): State {
  mkdirSync(dataDir, { recursive: true });
  // Other users may pass (PostgreSQL does not run as root), but everything secret in it is closed to them.
  chmodSync(dataDir, 0o755);
  const kept = JSON.parse(text(join(dataDir, "state.json")) ?? "{}") as Partial<State>;
  const devKey = /^GESSO_DEV_KEY=(.*)$/m.exec(text(join(dataDir, "dev.env")) ?? "")?.[1] ?? "";
  return {
    secret: kept.secret ?? randomBytes(32).toString("base64url"),
    sandboxKey: kept.sandboxKey ?? randomBytes(24).toString("base64url"),
    devKey: isApiKey(devKey) ? devKey : makeApiKey(),
    ports: kept.ports ?? {},
  };
}

export function saveState(dataDir: string, state: State, url: string): void {
  const { devKey, ...rest } = state;
  write(join(dataDir, "state.json"), `${JSON.stringify(rest, null, 2)}\n`);
  write(join(dataDir, "dev.env"), `GESSO_URL=${url}\nGESSO_DEV_KEY=${devKey}\n`);
  // The directory often lies in somebody's repository, and its secrets must not be committed.
  write(join(dataDir, ".gitignore"), "*\n");
}

/** What the server was last started with, for others who want to look at the same parts. */
export function saveEnvironment(dataDir: string, environment: Record<string, string>): void {
  write(join(dataDir, "environment.json"), `${JSON.stringify(environment, null, 2)}\n`);
}

export const loadEnvironment = (dataDir: string): Record<string, string> =>
  JSON.parse(text(join(dataDir, "environment.json")) ?? "{}");

/** Whole or not at all: a secret that is half written would lock its owner out of the data. */
function write(path: string, content: string): void {
  writeFileSync(`${path}.draft`, content, { mode: 0o600 });
  renameSync(`${path}.draft`, path);
}
