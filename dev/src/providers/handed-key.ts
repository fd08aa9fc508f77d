// The key of a provider that someone entered in the console. The server, which has checked it, leaves it in a file that
// only its owner can read; `gesso dev` takes it from there at once and keeps it like the keys of `gesso providers`.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readText } from "../process-info.ts";
import { connectProvider } from "./provider-choice.ts";
import { PROVIDER_LIST } from "./provider-list.ts";

export const HANDED_KEY_FILE = "handed-key.json";

type HandedKey = { provider: string; settings: Record<string, string> };

/** Saves the key and removes the file. Without a file it does nothing. */
export function takeHandedKey(dataDir: string): void {
  const path = join(dataDir, HANDED_KEY_FILE);
  const text = readText(path);
  if (text === undefined) return;
  rmSync(path, { force: true });
  const { provider, settings } = JSON.parse(text) as HandedKey;
  const listed = PROVIDER_LIST.find(({ id }) => id === provider);
  if (listed)
    connectProvider(
      dataDir,
      provider,
      Object.fromEntries(listed.settings.map(({ name }) => [name, settings[name] ?? ""])),
    );
}
