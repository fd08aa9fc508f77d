// `gesso dev` as a person starts it in an empty folder, for tests of what only it can do.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ConsoleBrowser, type ConsoleInstallation, openConsoleBrowser } from "./console-browser.ts";

const BIN = fileURLToPath(new URL("../../../cli/bin/gesso.js", import.meta.url));

/** `readLogs`: what all its processes have logged. */
export type DevInstallation = ConsoleInstallation & { data: string; readLogs(): string };

export async function startDevConsoleBrowser(env: Record<string, string>): Promise<ConsoleBrowser<DevInstallation>> {
  const folder = mkdtempSync(join(tmpdir(), "gesso-console-dev-"));
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [BIN, "dev", "--json"], {
    cwd: folder,
    env: { PATH, HOME: folder, NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stderr.on("data", (chunk) => (printed += chunk));
  const [line] = await Promise.race([once(child.stdout, "data"), once(child, "close")]);
  if (typeof line === "number") throw new Error(`exit ${line}: ${printed}`);
  const { url, api_key: key } = JSON.parse(String(line)) as { url: string; api_key: string };
  const data = join(folder, ".gesso");
  return openConsoleBrowser({
    ...{ url, key, operatorKey: key, data },
    query: () => Promise.reject(new Error("tests of gesso dev know it by its API only")),
    readLogs() {
      const files = readdirSync(data, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".log"));
      return [printed, ...files.map((path) => readFileSync(join(data, path), "utf8"))].join("\n");
    },
    async stop() {
      const closed = once(child, "close");
      child.kill("SIGINT");
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  });
}
