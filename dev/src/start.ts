// Starts everything Gesso needs on this machine in the right order, and stops it in the other one.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startServer } from "./gesso-processes.ts";
import { acquireLock } from "./lock.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { allocatePorts, type PortPlan } from "./port-plan.ts";
import { freePort } from "./ports.ts";
import type { RestateProcess } from "./restate.ts";
import { type Dependencies, startDependencies, stopInOrder } from "./start-dependencies.ts";
import { loadState, type SavedState, saveEnvironment, saveState } from "./state.ts";

export type StartOptions = {
  dataDir: string;
  /** This port or a refusal. Without it: the one of last time, 7788, or the next free one. */
  port?: number;
  /** Everything in a temporary directory that is removed at the end; `dataDir` is not touched. */
  ephemeral?: boolean;
  /** A PostgreSQL of one's own; then none is started. */
  databaseUrl?: string;
  /** Other programs in the place of ours. */
  entries?: { server?: string; sandbox?: string };
  log: (line: string) => void;
};

export type GessoInstance = {
  url: string;
  key: string;
  dataDir: string;
  /** In the order in which they are stopped: the server first, PostgreSQL last. */
  parts: ManagedProcess[];
  restate: RestateProcess;
  databaseUrl: string;
  stop(): Promise<void>;
};

export async function startGesso(options: StartOptions): Promise<GessoInstance> {
  const dataDir = options.ephemeral ? temporaryDirectory() : resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const lock = acquireLock(dataDir);
  const parts: ManagedProcess[] = [];
  const stop = async () => {
    await stopInOrder(parts, options.log);
    lock.release();
    if (options.ephemeral) rmSync(dataDir, { recursive: true, force: true });
  };

  try {
    const state = loadState(dataDir);
    const patienceSeconds = lock.wasStale ? 2 : 0;
    const ports = await allocatePorts({
      port: options.port,
      remembered: state.ports,
      patienceSeconds,
      log: options.log,
    });
    const { databaseUrl, entries } = options;
    const sandboxEntry = entries?.sandbox;
    const dependencyOptions = { dataDir, ports, sandboxKey: state.sandboxKey, databaseUrl, sandboxEntry };
    const foundation = await startDependencies(dependencyOptions);
    parts.push(...foundation.parts);
    const server = await startServerOnPort({ dataDir, ports, state, foundation }, options);
    parts.unshift(server);
    const { restate } = foundation;
    return { url: server.url, key: state.devKey, dataDir, parts, restate, databaseUrl: foundation.databaseUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type ServerStartContext = { dataDir: string; ports: PortPlan; state: SavedState; foundation: Dependencies };

/** Another Gesso that starts at the same moment may have found the same port free: whoever comes second moves on. */
async function startServerOnPort(around: ServerStartContext, options: StartOptions): Promise<ManagedProcess> {
  const { dataDir, ports, state } = around;
  const url = `http://127.0.0.1:${ports.api}`;
  const environment = serverEnvironment(around, url);
  saveState(dataDir, { ...state, ports }, url);
  saveEnvironment(dataDir, environment);
  const directory = join(dataDir, "server");
  try {
    return await startServer({
      dataDir: directory,
      url,
      environment,
      key: state.devKey,
      entry: options.entries?.server,
    });
  } catch (error) {
    const api = await freePort(ports.api);
    if (options.port !== undefined || api === ports.api) throw error;
    options.log(`Port ${ports.api} is in use by another process; using ${api}.`);
    return startServerOnPort({ ...around, ports: { ...ports, api } }, options);
  }
}

const DEFAULT_CATALOGUE = "gesso.yaml";

function serverEnvironment(
  { dataDir, ports, state, foundation }: ServerStartContext,
  url: string,
): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    PORT: String(ports.api),
    PUBLIC_URL: url,
    DATABASE_URL: foundation.databaseUrl,
    RESTATE_INGRESS_URL: foundation.restate.ingressUrl,
    RESTATE_ADMIN_URL: foundation.restate.adminUrl,
    WORKER_PORT: String(ports.worker),
    WORKER_URL: `http://127.0.0.1:${ports.worker}`,
    STORAGE: "disk",
    STORAGE_DIR: join(dataDir, "storage"),
    SANDBOX_URL: foundation.sandbox.url,
    SANDBOX_KEY: state.sandboxKey,
    GESSO_SECRET: state.secret,
    GESSO_DEV_KEY: state.devKey,
    // Everything that the interface has is to work in the first minute.
    LORA_NAMES: process.env.LORA_NAMES || "*",
    ...catalogueSetting(),
  };
}

/** The server works in a folder of its own; the operator's file is where a person said, or where gesso was called. */
function catalogueSetting(): Record<string, string> {
  const named = process.env.GESSO_CONFIG;
  return named || existsSync(DEFAULT_CATALOGUE) ? { GESSO_CONFIG: resolve(named || DEFAULT_CATALOGUE) } : {};
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "gesso-"));
  // mkdtemp closes it to everybody else, and PostgreSQL may be somebody else.
  chmodSync(directory, 0o755);
  return directory;
}
