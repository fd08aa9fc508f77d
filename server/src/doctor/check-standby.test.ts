// The standby check on real servers: alone, with an asynchronous standby, and with a synchronous one.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresPair, startPostgresPair } from "../../test/failover/postgres-pair.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { assessReplication, checkStandby } from "./check-standby.ts";

const directory = mkdtempSync(join(tmpdir(), "gesso-standby-"));
let alone: TestDatabase;
let pair: PostgresPair;
beforeAll(async () => {
  alone = await startTestDatabase();
  pair = await startPostgresPair(directory);
});
afterAll(async () => {
  await alone?.stop();
  await pair?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const check = (url: string) => checkStandby({ DATABASE_URL: url, DATABASE_POOL: 2 });

async function configurePrimary(setting: string): Promise<void> {
  const client = new pg.Client({ connectionString: pair.primary.url });
  await client.connect();
  await client.query(`alter system ${setting}`);
  await client.query("select pg_reload_conf()");
  await client.end();
}

describe("the standby check", () => {
  it("is skipped for a server without standby, and says what a failover needs", async () => {
    const { status, message } = await check(alone.url);
    expect([status, message]).toEqual(["skip", expect.stringContaining("needs a synchronous one")]);
  });

  it("passes with a synchronous standby and warns while it is asynchronous", async () => {
    expect(await check(pair.primary.url)).toMatchObject({ status: "pass", message: expect.stringMatching(/^1 sync/) });
    await configurePrimary("set synchronous_standby_names = ''");
    const warning = { status: "warn", message: expect.stringMatching(/^1 connected, none synchronous: .*paid twice$/) };
    await expect.poll(() => check(pair.primary.url), { timeout: 10_000 }).toMatchObject(warning);
    await configurePrimary("set synchronous_standby_names = 'another'");
    const waiting = { status: "warn", message: expect.stringContaining("writes wait") };
    await expect.poll(() => check(pair.primary.url), { timeout: 10_000 }).toMatchObject(waiting);
  });

  it("is skipped if the database is not reachable", async () => {
    expect(await check("postgres://gesso@127.0.0.1:1/gesso")).toMatchObject({ status: "skip" });
  });

  it("warns if commits do not wait for the standby", () => {
    const replication = { is_configured: true, is_visible: true, standbys: 1, synchronous_standbys: 1 };
    expect(assessReplication({ ...replication, synchronous_commit: "local" })[0]).toBe("warn");
    expect(assessReplication({ ...replication, synchronous_commit: "on", is_visible: false })[0]).toBe("pass");
  });
});
