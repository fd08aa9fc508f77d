// One node of a Patroni cluster: Patroni and the PostgreSQL server that it starts and supervises. Killing the node ends
// both at once, as the loss of its machine does.
import { chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseAccount, commandAs, freePort, type ManagedProcess, startProcess } from "@gesso/dev/components";

export type PatroniNode = {
  name: string;
  port: number;
  /** Patroni's REST API, which HAProxy asks for the role of the node. */
  restPort: number;
  /** Resolves when PostgreSQL is running, as primary or as standby. */
  start(): Promise<void>;
  /** Kills Patroni and every process of PostgreSQL with -9. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

export type PatroniInstallation = { python: string; postgresBinaries: string; etcdPort: number; directory: string };

export const PASSWORDS = {
  superuser: "superuser-of-drills",
  replication: "replication-of-drills",
  gesso: "gesso-of-drills",
};
const READY_SECONDS = 120;

export async function createPatroniNode(installation: PatroniInstallation, name: string): Promise<PatroniNode> {
  const [port, restPort] = [await freePort(), await freePort()];
  const directory = join(installation.directory, name);
  const data = join(directory, "data");
  const config = join(directory, "patroni.json");
  const account = chooseAccount(data);
  mkdirSync(directory, { recursive: true });
  writeFileSync(config, JSON.stringify(buildConfig(installation, { name, directory, port, restPort })));
  if (account) for (const path of [directory, config]) chownSync(path, account.uid, account.gid);
  let patroni: ManagedProcess | undefined;
  return {
    ...{ name, port, restPort },
    async start() {
      patroni = await startProcess({
        name: `patroni ${name}`,
        url: `http://127.0.0.1:${restPort}`,
        ...commandAs(account, [installation.python, directory], [installation.python, "-m", "patroni", config]),
        log: join(directory, "patroni.log"),
        environment: { PATH: process.env.PATH ?? "", LC_ALL: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" },
        directory,
        probe: async () => (await fetchStatus(restPort, "health")) === 200,
        readySeconds: READY_SECONDS,
      });
    },
    async kill() {
      const pids = listServerPids(data);
      const exited = patroni?.kill("SIGKILL");
      for (const pid of pids) killNow(pid);
      await exited;
      while (pids.some(isRunning)) await sleep(10);
    },
    async stop() {
      await patroni?.stop();
      for (const pid of listServerPids(data)) killNow(pid);
      rmSync(join(data, "postmaster.pid"), { force: true });
    },
  };
}

/** JSON is YAML. The cluster settings are those of the first start; they are then kept in etcd. */
function buildConfig(
  { postgresBinaries, etcdPort }: PatroniInstallation,
  { name, directory, port, restPort }: { name: string; directory: string; port: number; restPort: number },
) {
  const rest = `127.0.0.1:${restPort}`;
  const server = `127.0.0.1:${port}`;
  return {
    scope: "gesso",
    name,
    restapi: { listen: rest, connect_address: rest },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: 10,
        loop_wait: 2,
        retry_timeout: 3,
        maximum_lag_on_failover: 1_048_576,
        synchronous_mode: true,
        // Without a synchronous standby, writes wait. Otherwise the primary would go on alone for a moment.
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { wal_level: "replica", wal_log_hints: "on", hot_standby: "on", max_connections: 200 },
        },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }, "data-checksums"],
    },
    postgresql: {
      listen: server,
      connect_address: server,
      data_dir: join(directory, "data"),
      bin_dir: postgresBinaries,
      pgpass: join(directory, "pgpass"),
      parameters: { unix_socket_directories: directory, shared_buffers: "64MB" },
      pg_hba: [
        "local all all trust",
        "host replication replication 127.0.0.1/32 scram-sha-256",
        "host all all 127.0.0.1/32 scram-sha-256",
      ],
      authentication: {
        superuser: { username: "postgres", password: PASSWORDS.superuser },
        replication: { username: "replication", password: PASSWORDS.replication },
      },
    },
  };
}

export const fetchStatus = (restPort: number, path: string): Promise<number> =>
  fetch(`http://127.0.0.1:${restPort}/${path}`, { signal: AbortSignal.timeout(2000) }).then(
    async (response) => {
      await response.body?.cancel();
      return response.status;
    },
    () => 0,
  );

/** The postmaster and its children. Patroni starts PostgreSQL in a session of its own. */
function listServerPids(data: string): number[] {
  try {
    const postmaster = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8");
    return [postmaster, ...children.trim().split(" ").filter(Boolean).map(Number)];
  } catch {
    return [];
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited already.
  }
}

/** A zombie that its parent has not reaped yet counts as exited. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
