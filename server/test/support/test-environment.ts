// Starts a complete Gesso for tests: PostgreSQL, Restate, the sandbox, and server processes of each role. Each process
// can be killed and restarted on the same port and data.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  freePort,
  generateApiKey,
  type ManagedProcess,
  startPostgres,
  startRestate,
  startRestateCluster,
  startSandbox,
  startServer,
} from "@gesso/dev/components";
import pg from "pg";
import { bundlePrograms } from "./bundled-programs.ts";
import { copyMigratedData, SHARED_POSTGRES_VARIABLE } from "./shared-postgres.ts";

export type TestEnvironmentOptions = {
  /** `split`: API and worker are processes of their own, so that each can be killed alone. */
  roles?: "all" | "split";
  /** A second worker that shares the port of the first. */
  secondWorker?: boolean;
  /** API processes, each at an address of its own. */
  apis?: number;
  env?: Record<string, string>;
  /** Further settings of one server process, such as the address of a proxy before a dependency. */
  processEnv?: (name: ProcessName, addresses: DependencyAddresses) => Promise<Record<string, string>>;
  /** Further variables of the environment of PostgreSQL. */
  postgresEnv?: Record<string, string>;
  /** Where PostgreSQL keeps its data. */
  postgresDir?: string;
  /** Settings of the engine, as `RESTATE_…` variables. */
  restateSettings?: Record<string, string>;
  cluster?: boolean;
  partitions?: number;
  /** A database that the caller has started. Default: the environment starts PostgreSQL itself. */
  databaseUrl?: string;
  /** The program of the server processes. Default: this version. */
  entry?: string;
};

/** A server process of another version, at ports of its own, as during a rolling upgrade. */
export type VersionOptions = { name: string; role: "api" | "worker"; entry?: string };

export type DependencyAddresses = {
  databaseUrl: string;
  ingressUrl: string;
  workerPort: number;
  /** `PORT` of every API process. */
  apiPorts: number[];
  /** `PORT` of both workers, for health checks. */
  workerHealthPorts: [number, number];
};

export type ProcessName = "postgres" | "restate" | "api" | "worker" | "worker2";

export type TestEnvironment = {
  url: string;
  /** The address of every API process, `url` first. */
  urls: string[];
  key: string;
  databaseUrl: string;
  sandboxUrl: string;
  sandboxKey: string;
  storageDir: string;
  spoolDir: string;
  restateDir: string;
  adminUrl: string;
  /** The ingress of the engine, or of its first node. */
  ingressUrl: string;
  /** Where an engine of one node serves its metrics. */
  engineNodeUrl: string;
  pids(): Record<string, number>;
  /** Kills with -9 and restarts; resolves when it responds. */
  killAndRestart(processName: ProcessName, downMs?: number): Promise<void>;
  kill(processName: ProcessName): Promise<void>;
  /** Asks it to stop, as a deploy does. */
  stopGracefully(processName: ProcessName): Promise<void>;
  /** `extra` is added to the environment of a server process. */
  start(processName: ProcessName, extra?: Record<string, string>): Promise<void>;
  startVersion(version: VersionOptions): Promise<ManagedProcess>;
  /** Sends SIGTERM to a process and waits until it has exited; throws if it takes longer. */
  terminate(name: string, seconds: number): Promise<void>;
  /** Kills a process with -9. */
  killVersion(name: string): Promise<void>;
  /** Runs SQL in the engine. */
  queryEngine(sql: string): Promise<Record<string, unknown>[]>;
  /** Resolves when the process has exited, for whatever reason. */
  waitForExit(processName: ProcessName): Promise<void>;
  cluster?: Awaited<ReturnType<typeof startRestateCluster>>;
  query<R = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
  stop(): Promise<void>;
};

const SANDBOX_KEY = "sandbox-key-for-tests";

/** The system keeps what a killed process has written. Waiting for the disk protects only from its own crash. */
const WITHOUT_DISK_WAITS = {
  postgres: { fsync: "off" },
  restate: {
    RESTATE_LOG_SERVER__ROCKSDB_DISABLE_WAL_FSYNC: "true",
    RESTATE_BIFROST__LOCAL__ROCKSDB_DISABLE_WAL_FSYNC: "true",
  },
};

export async function startTestEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const dir = mkdtempSync(join(tmpdir(), "gesso-world-"));
  // Benchmarks and campaigns measure with the settings of production.
  const isVitest = Boolean(process.env[SHARED_POSTGRES_VARIABLE]);
  const port = {
    api: await freePort(),
    health: await freePort(),
    health2: await freePort(),
    worker: await freePort(),
    postgres: await freePort(),
    ingress: await freePort(),
    admin: await freePort(),
    fabric: await freePort(),
    sandbox: await freePort(),
  };
  const otherApis = Array.from({ length: (options.apis ?? 1) - 1 }, () => freePort());
  const apiPorts = [port.api, ...(await Promise.all(otherApis))];
  const key = generateApiKey();
  const url = `http://127.0.0.1:${port.api}`;
  const storageDir = join(dir, "storage");
  const spoolDir = join(dir, "spool");
  const restateDir = join(dir, "restate");
  const components = new Map<string, ManagedProcess>();

  const startPostgresProcess = async () => {
    if (options.databaseUrl) return;
    components.set(
      "postgres",
      await startPostgres({
        dataDir: options.postgresDir ?? join(dir, "postgres"),
        port: port.postgres,
        settings: { max_connections: "200", ...(isVitest && WITHOUT_DISK_WAITS.postgres) },
        ...(options.postgresEnv && { environment: options.postgresEnv }),
      }),
    );
  };
  const startRestateProcess = async () => {
    if (options.cluster) return;
    const ports = { ingressPort: port.ingress, adminPort: port.admin, fabricPort: port.fabric };
    components.set(
      "restate",
      await startRestate({
        dataDir: restateDir,
        ...ports,
        settings: { ...(isVitest && WITHOUT_DISK_WAITS.restate), ...options.restateSettings },
        ...(options.partitions && { partitions: options.partitions }),
      }),
    );
  };
  // A program of another version has its own migrations.
  const hasMigratedData = isVitest && !options.databaseUrl && !options.entry;
  // Looked up at each start: in a lab that stays up, the sources change.
  const findEntry = async () => options.entry ?? (await bundlePrograms()).server;
  const [sandbox, cluster] = await Promise.all([
    startSandbox({
      dataDir: join(dir, "sandbox"),
      port: port.sandbox,
      key: SANDBOX_KEY,
      entry: process.env.SANDBOX_ENTRY ?? (await bundlePrograms()).sandbox,
    }),
    options.cluster
      ? startRestateCluster({
          dataDir: restateDir,
          basePort: port.fabric,
          partitions: options.partitions ?? 6,
        })
      : undefined,
    startRestateProcess(),
    (hasMigratedData ? copyMigratedData(join(dir, "postgres")) : Promise.resolve()).then(startPostgresProcess),
  ]);
  components.set("sandbox", sandbox);
  const adminUrl = cluster ? cluster.nodes[0]!.adminUrl : `http://127.0.0.1:${port.admin}`;
  const databaseUrl = options.databaseUrl ?? components.get("postgres")!.url;

  let extra: Record<string, string> = {};
  const environment = {
    HOST: "127.0.0.1",
    PUBLIC_URL: url,
    DATABASE_URL: databaseUrl,
    RESTATE_INGRESS_URL: cluster
      ? cluster.nodes.map((node) => node.ingressUrl).join(",")
      : `http://127.0.0.1:${port.ingress}`,
    RESTATE_ADMIN_URL: cluster ? cluster.nodes.map((node) => node.adminUrl).join(",") : adminUrl,
    WORKER_PORT: String(port.worker),
    WORKER_URL: `http://127.0.0.1:${port.worker}`,
    GESSO_SECRET: "a secret of tests that is long enough to be one",
    GESSO_API_KEY: key,
    STORAGE: "disk",
    STORAGE_DIR: storageDir,
    SPOOL_DIR: spoolDir,
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY,
    // Ignores local models of this machine: tests use the sandbox.
    LOCAL_MODELS_DIR: join(dir, "no-models"),
    LORA_NAMES: "*",
    LOG_LEVEL: "info",
    RESTATE_LOGGING: "ERROR",
    // Tests compare outputs with what providers made, and outputs of equal requests with each other.
    ...(isVitest && { PROVENANCE: "off" }),
    ...options.env,
  };
  const addresses = {
    databaseUrl,
    ingressUrl: environment.RESTATE_INGRESS_URL,
    workerPort: port.worker,
    apiPorts,
    workerHealthPorts: [port.health, port.health2] satisfies [number, number],
  };
  const startServerProcess = async (name: string, role: "all" | "api" | "worker", at: number) => {
    const address = `http://127.0.0.1:${at}`;
    const own = { ...(await options.processEnv?.(name as ProcessName, addresses)), ...extra };
    // A process that died while its neighbours were away comes up only when they are back: try as a supervisor would.
    for (let tries = 0; ; tries++) {
      try {
        components.set(
          name,
          await startServer({
            dataDir: join(dir, name),
            url: address,
            role,
            name,
            environment: { ...environment, ...own, PORT: String(at) },
            entry: await findEntry(),
          }),
        );
        return;
      } catch (thrown) {
        if (tries >= 20) throw thrown;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  };
  const starters: Record<ProcessName, () => Promise<void>> = {
    postgres: startPostgresProcess,
    restate: startRestateProcess,
    api: () => startServerProcess("api", options.roles === "split" ? "api" : "all", port.api),
    worker: () => startServerProcess("worker", "worker", port.health),
    worker2: () => startServerProcess("worker2", "worker", port.health2),
  };
  const urls = apiPorts.map((at) => `http://127.0.0.1:${at}`);
  const startWorkers = async () => {
    if (options.roles === "split") await starters.worker();
    if (options.secondWorker) await starters.worker2();
  };
  const startOtherApis = apiPorts.slice(1).map((at, index) => startServerProcess(`api${index + 2}`, "api", at));
  await Promise.all([starters.api(), startWorkers(), ...startOtherApis]);

  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  pool.on("error", () => {});
  const kill = async (processName: ProcessName) => components.get(processName)?.kill("SIGKILL");

  return {
    url,
    urls,
    key,
    databaseUrl,
    sandboxUrl: sandbox.url,
    sandboxKey: SANDBOX_KEY,
    storageDir,
    spoolDir,
    restateDir,
    adminUrl,
    ingressUrl: environment.RESTATE_INGRESS_URL.split(",")[0]!,
    engineNodeUrl: `http://127.0.0.1:${port.fabric}`,
    pids: () => Object.fromEntries([...components].map(([name, part]) => [name, part.pid])),
    kill,
    stopGracefully: async (processName) => components.get(processName)?.stop(),
    async start(processName, extraEnvironment = {}) {
      extra = extraEnvironment;
      await starters[processName]();
      extra = {};
    },
    async startVersion({ name, role, entry }) {
      const [at, workerAt] = [await freePort(), await freePort()];
      const ports = {
        PORT: String(at),
        WORKER_PORT: String(workerAt),
        WORKER_URL: `http://127.0.0.1:${workerAt}`,
      };
      const started = await startServer({
        dataDir: join(dir, name),
        url: `http://127.0.0.1:${at}`,
        role,
        name,
        environment: { ...environment, ...ports },
        entry: entry ?? (await findEntry()),
      });
      components.set(name, started);
      return started;
    },
    async terminate(name, seconds) {
      const component = components.get(name)!;
      const late = new Promise<never>((_, reject) => {
        setTimeout(() => reject(new Error(`${name} has not exited after ${seconds} s`)), seconds * 1000).unref();
      });
      await Promise.race([component.kill("SIGTERM"), late]);
    },
    killVersion: async (name) => components.get(name)?.kill("SIGKILL"),
    async queryEngine(sql) {
      const response = await fetch(`${adminUrl}/query`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query: sql }),
      });
      if (!response.ok) throw new Error(`engine query failed: ${await response.text()}`);
      return ((await response.json()) as { rows: Record<string, unknown>[] }).rows;
    },
    waitForExit: async (processName) => void (await components.get(processName)?.exited),
    async killAndRestart(processName, downMs = 0) {
      await kill(processName);
      if (downMs > 0) await new Promise((resolve) => setTimeout(resolve, downMs));
      await starters[processName]();
    },
    ...(cluster && { cluster }),
    query: async (text, values = []) => (await pool.query(text, values)).rows,
    async stop() {
      await pool.end().catch(() => {});
      const dependencies = ["sandbox", "restate", "postgres"];
      const servers = [...components.keys()].filter((name) => !dependencies.includes(name));
      for (const group of [servers, dependencies]) await Promise.all(group.map((name) => components.get(name)?.stop()));
      await cluster?.stop();
      if (!process.env.KEEP_TEST_ENVIRONMENT) rmSync(dir, { recursive: true, force: true });
      else console.log(`test environment kept in ${dir}`);
    },
  };
}
