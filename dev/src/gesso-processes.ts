// Starts our own programs, the sandbox vendor and the server, as parts: the same Node, their own log, ready when asked.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ManagedProcess, startProcess } from "./managed-process.ts";
import { respondsOk } from "./readiness-probe.ts";

const SANDBOX_ENTRY = fileURLToPath(new URL("../../sandbox/src/main.ts", import.meta.url));
export const SERVER_ENTRY = fileURLToPath(new URL("../../server/src/main.ts", import.meta.url));

export type SandboxOptions = { dataDir: string; port: number; key: string; entry?: string };

export function startSandbox(options: SandboxOptions): Promise<ManagedProcess> {
  const url = `http://127.0.0.1:${options.port}`;
  // A key may begin with a dash, which only this form takes for a value.
  const flags = ["--port", String(options.port), "--data", options.dataDir, `--key=${options.key}`];
  return startProcess({
    name: "sandbox",
    url,
    command: [process.execPath, options.entry ?? SANDBOX_ENTRY, ...flags],
    log: join(options.dataDir, "sandbox.log"),
    environment: { PATH: process.env.PATH ?? "" },
    directory: options.dataDir,
    probe: () => respondsOk(`${url}/v1/health`),
  });
}

export type ServerOptions = {
  /** For the log and as working directory. */
  dataDir: string;
  /** Where it answers; `PORT` in the environment must agree. */
  url: string;
  environment: Record<string, string>;
  role?: "all" | "api" | "worker";
  /** What to ask until it answers with 2xx. */
  readyUrl?: string;
  /** A key that only this server knows: another that answers at the same address is not taken for it. */
  key?: string;
  name?: string;
  entry?: string;
};

export function startServer(options: ServerOptions): Promise<ManagedProcess> {
  const name = options.name ?? "server";
  return startProcess({
    name,
    url: options.url,
    command: [process.execPath, options.entry ?? SERVER_ENTRY, "--role", options.role ?? "all"],
    log: join(options.dataDir, `${name}.log`),
    // The rest of our environment goes along, because keys of providers are read from it.
    environment: { ...(process.env as Record<string, string>), ...options.environment },
    directory: options.dataDir,
    probe: async () => (await respondsOk(options.readyUrl ?? `${options.url}/readyz`)) && (await acceptsKey(options)),
    readySeconds: 60,
  });
}

async function acceptsKey({ url, key }: ServerOptions): Promise<boolean> {
  if (key === undefined) return true;
  return respondsOk(`${url}/api/v1/runs?limit=1`, { headers: { Authorization: `Bearer ${key}` } });
}
