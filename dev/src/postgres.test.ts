import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { killAfterTest, temporaryDirectory } from "../test/scratch.ts";
import { freePort } from "./ports.ts";
import { startPostgres } from "./postgres.ts";

const TIMEOUT = 40_000;

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end().catch(() => {}));
  return client;
}

async function start(dataDir: string, port: number) {
  return killAfterTest(await startPostgres({ dataDir, port }));
}

it(
  "keeps committed rows through kill -9 of the postmaster and starts again on the same port",
  async () => {
    const dataDir = temporaryDirectory();
    const port = await freePort();
    const first = await start(dataDir, port);
    const client = await connect(first.url);
    await client.query("create table notes (words text)");
    await client.query("insert into notes values ('kept')");
    await client.query("begin; insert into notes values ('never committed')");
    await first.kill();

    const second = await start(dataDir, port);
    expect(second.url).toBe(first.url);
    const again = await connect(second.url);
    expect((await again.query("select words from notes")).rows).toEqual([{ words: "kept" }]);
    expect((await again.query("show fsync")).rows).toEqual([{ fsync: "on" }]);
  },
  TIMEOUT,
);

it(
  "starts again although a backend of the killed postmaster is busy and does not notice",
  async () => {
    const dataDir = temporaryDirectory();
    const port = await freePort();
    const first = await start(dataDir, port);
    const client = await connect(first.url);
    const endless = "with recursive n(i) as (select 1 union all select 1 from n) select count(*) from n";
    const busy = client.query(endless).catch(() => "cut off");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await first.kill();

    const second = await start(dataDir, port);
    expect(second.pid).not.toBe(first.pid);
    expect(await busy).toBe("cut off");
  },
  TIMEOUT,
);

it(
  "is not held up by a pid file whose pid belongs to another program by now",
  async () => {
    const dataDir = temporaryDirectory();
    const port = await freePort();
    const first = await start(dataDir, port);
    await first.kill();
    const path = `${dataDir}/data/postmaster.pid`;
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, [process.pid, ...lines.slice(1)].join("\n"));

    await start(dataDir, port);
  },
  TIMEOUT,
);

it(
  "says that the data is in use when it is, and leaves the other one alone",
  async () => {
    const dataDir = temporaryDirectory();
    const first = await start(dataDir, await freePort());
    await expect(startPostgres({ dataDir, port: await freePort() })).rejects.toThrow(/postmaster.pid" already exists/);
    await connect(first.url);
  },
  TIMEOUT,
);

it(
  "asks for a password, keeps it in a file that only its owner reads, and speaks on loopback only",
  async () => {
    const dataDir = temporaryDirectory();
    const part = await start(dataDir, await freePort());
    expect(statSync(`${dataDir}/password`).mode & 0o777).toBe(0o600);
    const stranger = new URL(part.url);
    stranger.password = "guess";
    await expect(connect(stranger.href)).rejects.toThrow(/password authentication failed/);
    const client = await connect(part.url);
    expect((await client.query("show listen_addresses")).rows).toEqual([{ listen_addresses: "127.0.0.1" }]);
  },
  TIMEOUT,
);

it.runIf(process.getuid?.() === 0)(
  "runs for root below a directory that is closed to everybody else",
  async () => {
    const dataDir = temporaryDirectory();
    chmodSync(dataDir, 0o700);
    const part = await start(`${dataDir}/deeper`, await freePort());
    expect(statSync(`/proc/${part.pid}`).uid).not.toBe(0);
  },
  TIMEOUT,
);
