import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { killAfterTest, temporaryDirectory } from "../test/scratch.ts";
import { freePort } from "./ports.ts";
import { startPostgres } from "./postgres.ts";

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

it("keeps committed rows through kill -9 of the postmaster and starts again on the same port", async () => {
  const dataDir = temporaryDirectory();
  const port = await freePort();
  const first = await start(dataDir, port);
  const client = await connect(first.url);
  await client.query("create table notes (content text)");
  await client.query("insert into notes values ('committed')");
  await client.query("begin; insert into notes values ('never committed')");
  await first.kill();

  const second = await start(dataDir, port);
  expect(second.url).toBe(first.url);
  const again = await connect(second.url);
  expect((await again.query("select content from notes")).rows).toEqual([{ content: "committed" }]);
  expect((await again.query("show fsync")).rows).toEqual([{ fsync: "on" }]);
});

it("restarts although a busy backend of the killed postmaster still runs", async () => {
  const dataDir = temporaryDirectory();
  const port = await freePort();
  const first = await start(dataDir, port);
  const client = await connect(first.url);
  const endless = "with recursive n(i) as (select 1 union all select 1 from n) select count(*) from n";
  const busy = client.query(endless).catch(() => "cut off");
  const observer = await connect(first.url);
  const isBusy = "select 1 from pg_stat_activity where query like 'with recursive%' and state = 'active'";
  await expect.poll(async () => (await observer.query(isBusy)).rows.length).toBe(1);
  await first.kill();

  const second = await start(dataDir, port);
  expect(second.pid).not.toBe(first.pid);
  expect(await busy).toBe("cut off");
});

it("ignores a pid file whose pid now belongs to another program", async () => {
  const dataDir = temporaryDirectory();
  const port = await freePort();
  const first = await start(dataDir, port);
  await first.kill();
  const path = `${dataDir}/data/postmaster.pid`;
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, [process.pid, ...lines.slice(1)].join("\n"));

  await start(dataDir, port);
});

it("reports that the data is in use and leaves the running postmaster alone", async () => {
  const dataDir = temporaryDirectory();
  const first = await start(dataDir, await freePort());
  await expect(startPostgres({ dataDir, port: await freePort() })).rejects.toThrow(/postmaster.pid" already exists/);
  await connect(first.url);
});

it("requires a password, stores it with mode 0600, and listens on loopback only", async () => {
  const dataDir = temporaryDirectory();
  const component = await start(dataDir, await freePort());
  expect(statSync(`${dataDir}/password`).mode & 0o777).toBe(0o600);
  const wrongPassword = new URL(component.url);
  wrongPassword.password = "guess";
  await expect(connect(wrongPassword.href)).rejects.toThrow(/password authentication failed/);
  const client = await connect(component.url);
  expect((await client.query("show listen_addresses")).rows).toEqual([{ listen_addresses: "127.0.0.1" }]);
});

it.runIf(process.getuid?.() === 0)(
  "runs as an unprivileged user below a directory that only root may enter",
  async () => {
    const dataDir = temporaryDirectory();
    chmodSync(dataDir, 0o700);
    const component = await start(`${dataDir}/deeper`, await freePort());
    expect(statSync(`/proc/${component.pid}`).uid).not.toBe(0);
  },
);
