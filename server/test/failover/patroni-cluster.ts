// A PostgreSQL cluster under Patroni: etcd holds the leader lock, three nodes replicate synchronously, and HAProxy
// sends connections to whichever node is the primary.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type ManagedProcess, startProcess } from "@gesso/dev/components";
import pg from "pg";
import { findPostgresBinaries } from "../support/debian-postgres.ts";
import { findProgram } from "../support/installed-programs.ts";
import { createPythonEnvironment } from "../support/python.ts";
import { createPatroniNode, fetchStatus, PASSWORDS, type PatroniNode } from "./patroni-node.ts";

const REQUIREMENTS = join(import.meta.dirname, "patroni-requirements.txt");
const NODES = ["node1", "node2", "node3"];

export type PatroniCluster = {
  /** Through HAProxy, as the account of Gesso. */
  url: string;
  /** Through HAProxy, as a superuser: row-level security hides rows from the owner too. */
  superuserUrl: string;
  findLeader(): Promise<PatroniNode>;
  /** Resolves when a node other than this one is the primary. */
  waitForLeaderOtherThan(node: PatroniNode): Promise<PatroniNode>;
  /** Resolves when one standby is synchronous and all others stream. */
  waitForStandbys(): Promise<void>;
  /** A planned switchover to the synchronous standby; resolves when Patroni reports its success. */
  switchOver(): Promise<void>;
  stop(): Promise<void>;
};

export async function startPatroniCluster(): Promise<PatroniCluster> {
  const directory = mkdtempSync(join(tmpdir(), "gesso-patroni-"));
  chmodSync(directory, 0o755);
  const etcdPort = await freePort();
  const installation = {
    python: await createPythonEnvironment(REQUIREMENTS),
    postgresBinaries: findPostgresBinaries(),
    etcdPort,
    directory,
  };
  const nodes = await Promise.all(NODES.map((name) => createPatroniNode(installation, name)));
  const started: ManagedProcess[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    for (const each of started.reverse()) await each.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    started.push(await startEtcd(join(directory, "etcd"), etcdPort));
    await Promise.all(nodes.map((node) => node.start()));
    const port = await freePort();
    started.push(await startHaproxy(join(directory, "haproxy"), port, nodes));
    const urls = {
      url: `postgres://gesso:${PASSWORDS.gesso}@127.0.0.1:${port}/gesso`,
      superuserUrl: `postgres://postgres:${PASSWORDS.superuser}@127.0.0.1:${port}/gesso`,
    };
    const cluster = { ...operate(nodes), ...urls, stop };
    await cluster.waitForStandbys();
    await createGessoDatabase(port);
    return cluster;
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

async function startEtcd(directory: string, port: number): Promise<ManagedProcess> {
  const url = `http://127.0.0.1:${port}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  return startProcess({
    name: "etcd",
    url,
    command: [
      findProgram("etcd", "etcd-server"),
      ...[`--data-dir=${join(directory, "data")}`, `--listen-client-urls=${url}`, `--advertise-client-urls=${url}`],
      ...[
        `--listen-peer-urls=${peers}`,
        `--initial-advertise-peer-urls=${peers}`,
        `--initial-cluster=default=${peers}`,
      ],
    ],
    log: join(directory, "etcd.log"),
    directory,
    environment: { PATH: process.env.PATH ?? "" },
    probe: async () => (await fetchStatus(port, "health")) === 200,
  });
}

function startHaproxy(directory: string, port: number, nodes: PatroniNode[]): Promise<ManagedProcess> {
  const config = join(directory, "haproxy.cfg");
  mkdirSync(directory, { recursive: true });
  const servers = nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.restPort}`);
  const lines = [
    ...["defaults", "  mode tcp", "  timeout connect 2s", "  timeout client 1h", "  timeout server 1h"],
    ...["listen primary", `  bind 127.0.0.1:${port}`, "  option httpchk GET /primary"],
    "  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions",
    ...servers,
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  return startProcess({
    name: "haproxy",
    url: `http://127.0.0.1:${port}`,
    command: [findProgram("haproxy", "haproxy"), "-db", "-f", config],
    log: join(directory, "haproxy.log"),
    directory,
    environment: { PATH: process.env.PATH ?? "" },
    probe: () =>
      querySuperuser(port, ["select 1"]).then(
        () => true,
        () => false,
      ),
  });
}

type Member = { name: string; role: string; state: string };

function operate(nodes: PatroniNode[]): Omit<PatroniCluster, "url" | "superuserUrl" | "stop"> {
  const listMembers = async (): Promise<Member[]> => {
    for (const { restPort } of nodes) {
      const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(2000) }).catch(
        () => undefined,
      );
      if (response?.ok) return ((await response.json()) as { members: Member[] }).members;
    }
    return [];
  };
  const findPrimaries = async () => {
    const statuses = await Promise.all(nodes.map(({ restPort }) => fetchStatus(restPort, "primary")));
    return nodes.filter((_, index) => statuses[index] === 200);
  };
  const findLeader = async () => (await findPrimaries())[0] ?? fail("no node is the primary");
  return {
    findLeader,
    waitForLeaderOtherThan: (node) =>
      waitFor("another primary", async () => (await findPrimaries()).find((each) => each !== node)),
    waitForStandbys: async () => {
      await waitFor("the standbys", async () => {
        const members = await listMembers();
        const isSynchronous = members.some(({ role }) => role === "sync_standby" || role === "quorum_standby");
        return isSynchronous && members.filter(({ state }) => state === "streaming").length === nodes.length - 1;
      });
    },
    async switchOver() {
      const leader = await findLeader();
      const candidate = (await listMembers()).find(({ role }) => role === "sync_standby");
      const response = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: leader.name, candidate: candidate?.name }),
      });
      if (!response.ok) throw new Error(`the switchover failed: ${response.status} ${await response.text()}`);
    },
  };
}

const fail = (message: string): never => {
  throw new Error(message);
};

async function waitFor<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const until = Date.now() + 120_000; Date.now() < until; await sleep(100)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`waited in vain for ${what}`);
}

/** The account of Gesso owns its database and may create roles; it is no superuser. */
const createGessoDatabase = (port: number) =>
  querySuperuser(port, [
    `create role gesso login createrole password '${PASSWORDS.gesso}'`,
    "create database gesso owner gesso",
  ]);

async function querySuperuser(port: number, statements: string[]): Promise<void> {
  const client = new pg.Client({
    connectionString: `postgres://postgres:${PASSWORDS.superuser}@127.0.0.1:${port}/postgres`,
    connectionTimeoutMillis: 5000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    for (const text of statements) await client.query(text);
  } finally {
    await client.end();
  }
}
