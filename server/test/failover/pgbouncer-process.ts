// PgBouncer in transaction mode in front of a PostgreSQL server. Prepared statements need version 1.21. If Debian's
// package is older, the one of a later release is installed in a directory of its own and runs there.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseAccount, freePort, type ManagedProcess, startProcess } from "@gesso/dev/components";
import pg from "pg";
import { findProgram } from "../support/installed-programs.ts";

const CACHE = join(import.meta.dirname, "../../../node_modules/.cache");
const RELEASE = "trixie";
const MIN_VERSION = [1, 21] as const;

export type PgBouncer = {
  /** The URL of the database through the pooler. */
  url: string;
  /** The number of connections from clients and to the server. */
  countConnections(): Promise<{ clients: number; servers: number }>;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export async function startPgBouncer(databaseUrl: string, serverConnections: number): Promise<PgBouncer> {
  const target = new URL(databaseUrl);
  const { username, password, pathname } = target;
  const root = findRoot();
  const port = await freePort();
  const directory = mkdtempSync(join(root, "tmp/gesso-pgbouncer-"));
  const inside = directory.slice(root === "/" ? 0 : root.length);
  const database = pathname.slice(1);
  const config = [
    ...["[databases]", `${database} = host=127.0.0.1 port=${target.port} dbname=${database}`],
    ...["[pgbouncer]", "listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir ="],
    ...["auth_type = plain", `auth_file = ${inside}/users.txt`, `admin_users = ${username}`],
    ...["pool_mode = transaction", "max_prepared_statements = 500", "max_client_conn = 500"],
    ...[`default_pool_size = ${serverConnections}`],
  ];
  writeFileSync(join(directory, "pgbouncer.ini"), `${config.join("\n")}\n`);
  writeFileSync(join(directory, "users.txt"), `"${username}" "${decodeURIComponent(password)}"\n`);
  // PgBouncer refuses to run as root.
  const account = chooseAccount(join(directory, "none"));
  for (const path of [directory, join(directory, "pgbouncer.ini"), join(directory, "users.txt")])
    if (account) chownSync(path, account.uid, account.gid);
  const program = ["pgbouncer", `${inside}/pgbouncer.ini`];
  const inRoot = root === "/" ? [] : ["chroot", `--userspec=${account?.uid}:${account?.gid}`, root];
  const url = Object.assign(new URL(databaseUrl), { port: String(port) }).href;
  const admin = Object.assign(new URL(url), { pathname: "/pgbouncer" }).href;
  let running: ManagedProcess;
  const start = async () => {
    running = await startProcess({
      name: "pgbouncer",
      url,
      command: [...inRoot, ...program],
      log: join(directory, "pgbouncer.log"),
      directory,
      environment: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
      probe: () =>
        ask(url, "select 1").then(
          () => true,
          () => false,
        ),
      ...(root === "/" && account && { user: { uid: account.uid, gid: account.gid } }),
    });
  };
  await start();
  return {
    url,
    async countConnections() {
      const [pool] = (await ask(admin, "show pools")).filter((row) => row.database === database);
      const sum = (prefix: string, ...states: string[]) =>
        states.reduce((total, state) => total + Number(pool?.[`${prefix}_${state}`] ?? 0), 0);
      return { clients: sum("cl", "active", "waiting"), servers: sum("sv", "active", "idle", "used", "tested") };
    },
    kill: () => running.kill("SIGKILL"),
    start,
    async stop() {
      await running.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The root directory of a system whose PgBouncer is new enough. */
function findRoot(): string {
  const system = findProgram("pgbouncer", "pgbouncer");
  const version = execFileSync(system, ["--version"], { encoding: "utf8" }).match(/(\d+)\.(\d+)/) ?? [];
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1])) return "/";
  if (process.getuid?.() !== 0) throw new Error(`PgBouncer ${MIN_VERSION.join(".")} or newer is needed.`);
  const root = join(CACHE, `${RELEASE}-pgbouncer`);
  if (existsSync(root)) return root;
  mkdirSync(CACHE, { recursive: true });
  const unfinished = mkdtempSync(`${root}-`);
  chmodSync(unfinished, 0o755);
  const install = ["--mode=root", "--variant=essential", "--include=pgbouncer", RELEASE, unfinished];
  execFileSync(findProgram("mmdebstrap", "mmdebstrap"), install, { stdio: "pipe" });
  renameSync(unfinished, root);
  return root;
}

/** The admin console of PgBouncer understands only simple queries. */
async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3000, query_timeout: 3000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
