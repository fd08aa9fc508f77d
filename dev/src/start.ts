// Starts everything Gesso needs on this machine in the right order, and stops it in the other one.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Foundation, startFoundation, stopInOrder } from "./foundation.ts";
import { takeLock } from "./lock.ts";
import type { Part } from "./part.ts";
import { type PortPlan, planPorts } from "./port-plan.ts";
import { freePort } from "./ports.ts";
import { startServer } from "./programs.ts";
import type { RestatePart } from "./restate.ts";
import { loadState, type State, saveEnvironment, saveState } from "./state.ts";

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

export type Gesso = {
  url: string;
  key: string;
  dataDir: string;
  /** In the order in which they are stopped: the server first, PostgreSQL last. */
  parts: Part[];
  restate: RestatePart;
  databaseUrl: string;
  stop(): Promise<void>;
};

export async function startAll(options: StartOptions): Promise<Gesso> {
  const dataDir = options.ephemeral ? temporaryDirectory() : resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const lock = takeLock(dataDir);
  const parts: Part[] = [];
  const stop = async () => {
    await stopInOrder(parts, options.log);
    lock.release();
    if (options.ephemeral) rmSync(dataDir, { recursive: true, force: true });
  };

  try {
    const state = loadState(dataDir);
    const patienceSeconds = lock.wasAbandoned ? 2 : 0;
    const ports = await planPorts({ port: options.port, remembered: state.ports, patienceSeconds, log: options.log });
    const { databaseUrl, entries } = options;
    const sandboxEntry = entries?.sandbox;
    const ground = { dataDir, ports, sandboxKey: state.sandboxKey, databaseUrl, sandboxEntry };
    const foundation = await startFoundation(ground);
    parts.push(...foundation.parts);
    const server = await startOnPort({ dataDir, ports, state, foundation }, options);
    parts.unshift(server);
    const { restate } = foundation;
    return { url: server.url, key: state.devKey, dataDir, parts, restate, databaseUrl: foundation.databaseUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Surroundings = { dataDir: string; ports: PortPlan; state: State; foundation: Foundation };

/** Another Gesso that starts at the same moment may have found the same port free: whoever comes second moves on. */
async function startOnPort(around: Surroundings, options: StartOptions): Promise<Part> {
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
    options.log(`Port ${ports.api} was taken meanwhile; using ${api}.`);
    return startOnPort({ ...around, ports: { ...ports, api } }, options);
  }
}

const USUAL_CATALOGUE = "gesso.yaml";

function serverEnvironment({ dataDir, ports, state, foundation }: Surroundings, url: string): Record<string, string> {
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
  return named || existsSync(USUAL_CATALOGUE) ? { GESSO_CONFIG: resolve(named || USUAL_CATALOGUE) } : {};
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "gesso-"));
  // mkdtemp closes it to everybody else, and PostgreSQL may be somebody else.
  chmodSync(directory, 0o755);
  return directory;
}
