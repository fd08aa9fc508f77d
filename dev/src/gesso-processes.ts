// Starts the sandbox and the server as managed processes, with the Node.js of this process and a log file each.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ManagedProcess, startProcess } from "./managed-process.ts";
import { respondsOk } from "./readiness-probe.ts";

const SANDBOX_ENTRY = fileURLToPath(new URL("../../sandbox/src/main.ts", import.meta.url));
export const SERVER_ENTRY = fileURLToPath(new URL("../../server/src/main.ts", import.meta.url));

/** `side`: of a square image whose size is not requested, in pixels. Default: that of the sandbox. */
export type SandboxOptions = { dataDir: string; port: number; key: string; entry?: string; side?: number };

export function startSandbox(options: SandboxOptions): Promise<ManagedProcess> {
  const url = `http://127.0.0.1:${options.port}`;
  // A key may begin with a dash; only the form `--key=value` accepts such a value.
  const flags = ["--port", String(options.port), "--data", options.dataDir, `--key=${options.key}`];
  if (options.side !== undefined) flags.push("--side", String(options.side));
  return startProcess({
    name: "sandbox",
    url,
    command: [process.execPath, options.entry ?? SANDBOX_ENTRY, ...flags],
    log: join(options.dataDir, "sandbox.log"),
    environment: { PATH: process.env.PATH ?? "", ...compileCacheSetting() },
    directory: options.dataDir,
    probe: () => respondsOk(`${url}/v1/health`),
  });
}

/** For processes that inherit nothing else. Tests set it, so that Node compiles the modules only once. */
function compileCacheSetting(): Record<string, string> {
  const directory = process.env.NODE_COMPILE_CACHE;
  return directory ? { NODE_COMPILE_CACHE: directory } : {};
}

export type ServerOptions = {
  /** Working directory and place of the log file. */
  dataDir: string;
  /** URL of the server; must match `PORT` in the environment. */
  url: string;
  environment: Record<string, string>;
  role?: "all" | "api" | "worker";
  /** Polled until it responds with 2xx. Default: `/readyz`. */
  readyUrl?: string;
  /** A key that only this server accepts, so that another server on the same port is not mistaken for it. */
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
    // The server inherits this environment: it contains the API keys of providers.
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
