// Checks the key of a provider with the server's doctor, which sends free requests only. The key is passed in the
// environment of that process, never on its command line.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { SERVER_ENTRY } from "../gesso-processes.ts";

/** `key`: `unasked` if the provider has no free request that needs the key. */
export type KeyCheck = { key: "works" | "refused" | "unasked" | "unknown"; message: string; fix?: string };

/** Settings of a server: this check is about the provider alone. */
const SERVER_SETTINGS = ["DATABASE_URL", "DIRECT_DATABASE_URL", "MIGRATION_DATABASE_URL", "GESSO_SECRET"];

export async function checkProviderKey(id: string, settings: Record<string, string>): Promise<KeyCheck> {
  const names = [...SERVER_SETTINGS, ...SERVER_SETTINGS.map((name) => `${name}_FILE`)];
  const other = Object.entries(process.env).filter(
    ([name]) => !names.includes(name) && !Object.keys(settings).includes(name.replace(/_FILE$/, "")),
  );
  const child = spawn(process.execPath, [SERVER_ENTRY, "--role", "doctor", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...Object.fromEntries(other), ...settings, PROVIDERS: id },
  });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const { providers } = JSON.parse(output) as { providers: (Omit<KeyCheck, "key"> & { name: string; key: string })[] };
  const found = providers.find(({ name }) => name === id);
  if (!found || found.key === "off") return { key: "unknown", message: found?.message ?? "not checked" };
  return { ...found, key: found.key as KeyCheck["key"] };
}
