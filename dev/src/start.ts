// Starts Gesso and its dependencies on this machine in order, and stops them in reverse order.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { developmentSigner } from "./development-signer.ts";
import { startServer } from "./gesso-processes.ts";
import { acquireLock } from "./lock.ts";
import { logTail } from "./log-tail.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { allocatePorts, type PortPlan } from "./port-plan.ts";
import { freePort } from "./ports.ts";
import { HANDED_KEY_FILE } from "./providers/handed-key.ts";
import {
  loadProviderChoice,
  nameProviders,
  providerEnvironment,
  saveProviderChoice,
} from "./providers/provider-choice.ts";
import type { RestateProcess } from "./restate.ts";
import { type Dependencies, startDependencies, stopInOrder } from "./start-dependencies.ts";
import { loadState, type SavedState, saveEnvironment, saveState } from "./state.ts";

export type StartOptions = {
  dataDir: string;
  /** Port of the API; an error if it is in use. Default: the port used last, 7788, or the next free one. */
  port?: number;
  /** Uses a temporary data directory that is deleted on stop; `dataDir` is not touched. */
  ephemeral?: boolean;
  /** URL of an existing PostgreSQL. If set, no PostgreSQL is started. */
  databaseUrl?: string;
  /** Providers to use besides the sandbox, from now on. Default: those of the last start, at first none. */
  providers?: string[];
  /** Programs that tests run instead of the server and the sandbox: stubs or bundles. */
  entries?: { server?: string; sandbox?: string };
  /** The side of images whose size is not requested, in pixels. Tests use small ones. */
  sandboxSide?: number;
  log: (line: string) => void;
};

export type GessoInstance = {
  url: string;
  key: string;
  dataDir: string;
  /** In stop order: the server first, PostgreSQL last. */
  components: ManagedProcess[];
  restate: RestateProcess;
  databaseUrl: string;
  /** Restarts the server alone, with the providers that are chosen now. Runs in progress continue. */
  restartServer(): Promise<void>;
  stop(): Promise<void>;
};

export async function startGesso(options: StartOptions): Promise<GessoInstance> {
  const dataDir = options.ephemeral ? temporaryDirectory() : resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const lock = acquireLock(dataDir);
  const components: ManagedProcess[] = [];
  const stop = async () => {
    await stopInOrder(components, options.log);
    lock.release();
    if (options.ephemeral) rmSync(dataDir, { recursive: true, force: true });
  };

  try {
    const state = loadState(dataDir);
    if (options.providers)
      saveProviderChoice(dataDir, nameProviders(loadProviderChoice(dataDir), options.providers, process.env));
    const waitSeconds = lock.wasStale ? 2 : 0;
    const ports = await allocatePorts({
      port: options.port,
      remembered: state.ports,
      waitSeconds,
      log: options.log,
    });
    const { databaseUrl, entries } = options;
    const sandboxEntry = entries?.sandbox;
    const { sandboxSide } = options;
    const dependencyOptions = { dataDir, ports, sandboxKey: state.sandboxKey, databaseUrl, sandboxEntry, sandboxSide };
    const dependencies = await startDependencies(dependencyOptions);
    components.push(...dependencies.components);
    const context = { dataDir, ports, state, dependencies };
    const server = await startServerOnPort(context, options);
    components.unshift(server);
    const restartServer = async () => {
      const running = components.shift();
      await running?.stop();
      const port = Number(new URL(server.url).port);
      const samePort = { ...context, ports: { ...ports, api: port } };
      components.unshift(await startServerOnPort(samePort, { ...options, port }));
    };
    warnOfWeakIsolation(join(dataDir, "server", "server.log"), options.log);
    const { restate } = dependencies;
    return {
      url: server.url,
      key: state.apiKey,
      dataDir,
      components,
      restate,
      databaseUrl: dependencies.databaseUrl,
      restartServer,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type ServerStartContext = { dataDir: string; ports: PortPlan; state: SavedState; dependencies: Dependencies };

/** Retries on the next port if another Gesso, started at the same time, has taken the port in between. */
async function startServerOnPort(context: ServerStartContext, options: StartOptions): Promise<ManagedProcess> {
  const { dataDir, ports, state } = context;
  const url = `http://127.0.0.1:${ports.api}`;
  const signer = await developmentSigner(dataDir, process.env);
  const choice = loadProviderChoice(dataDir);
  const environment = { ...serverEnvironment(context, url), ...signer, ...providerEnvironment(choice) };
  saveState(dataDir, { ...state, ports }, url);
  saveEnvironment(dataDir, environment);
  const directory = join(dataDir, "server");
  try {
    return await startServer({
      dataDir: directory,
      url,
      environment,
      key: state.apiKey,
      entry: options.entries?.server,
    });
  } catch (error) {
    const api = await freePort(ports.api);
    if (options.port !== undefined || api === ports.api) throw error;
    options.log(`Port ${ports.api} is in use by another program; using port ${api}.`);
    return startServerOnPort({ ...context, ports: { ...ports, api } }, options);
  }
}

/** The server logs it at its start, before it is ready. */
function warnOfWeakIsolation(serverLog: string, log: StartOptions["log"]): void {
  const text = logTail(serverLog);
  // Starts before this one are in the same file.
  if (text.lastIndexOf("decoder sandbox is incomplete") <= text.lastIndexOf("decoder sandbox is active")) return;
  log("Warning: this machine cannot isolate the processes that decode images. Use it for your own images only.");
}

const DEFAULT_CATALOGUE = "gesso.yaml";

function serverEnvironment(
  { dataDir, ports, state, dependencies }: ServerStartContext,
  url: string,
): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    PORT: String(ports.api),
    PUBLIC_URL: url,
    DATABASE_URL: dependencies.databaseUrl,
    RESTATE_INGRESS_URL: dependencies.restate.ingressUrl,
    RESTATE_ADMIN_URL: dependencies.restate.adminUrl,
    WORKER_PORT: String(ports.worker),
    WORKER_URL: `http://127.0.0.1:${ports.worker}`,
    STORAGE: "disk",
    STORAGE_DIR: join(dataDir, "storage"),
    SPOOL_DIR: join(dataDir, "spool"),
    LOCAL_MODELS_DIR: findModelsFolder(dataDir, process.env.LOCAL_MODELS_DIR),
    SANDBOX_URL: dependencies.sandbox.url,
    SANDBOX_KEY: state.sandboxKey,
    GESSO_SECRET: state.secret,
    GESSO_API_KEY: state.apiKey,
    // A laptop may be unable to isolate processes, and development handles only the developer's own images.
    ALLOW_WEAK_ISOLATION: process.env.ALLOW_WEAK_ISOLATION || "true",
    // A receiver that is being developed runs on the same machine.
    WEBHOOK_ALLOW_LOOPBACK: process.env.WEBHOOK_ALLOW_LOOPBACK || "true",
    DEV_CONNECT_FILE: join(dataDir, HANDED_KEY_FILE),
    // Development accepts every LoRA name, so that all features of the API work without configuration.
    LORA_NAMES: process.env.LORA_NAMES || "*",
    ...catalogueSetting(),
  };
}

/** The models of this data folder, or those that `npm run models -- install` puts into the caller's directory. */
export function findModelsFolder(dataDir: string, named: string | undefined): string {
  const own = join(dataDir, "models");
  return resolve(named || (existsSync(own) ? own : join(".gesso", "models")));
}

/** The server runs in its own directory, so the path of gesso.yaml is resolved against the caller's directory. */
function catalogueSetting(): Record<string, string> {
  const named = process.env.GESSO_CONFIG;
  return named || existsSync(DEFAULT_CATALOGUE) ? { GESSO_CONFIG: resolve(named || DEFAULT_CATALOGUE) } : {};
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "gesso-"));
  // mkdtemp creates the directory with mode 0700, and PostgreSQL may run as another user.
  chmodSync(directory, 0o755);
  return directory;
}
