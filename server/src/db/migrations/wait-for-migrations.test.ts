// Processes that leave migrations to `--role migrate`: they wait with an account that cannot migrate.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { migrate } from "./migrate.ts";
import { waitForMigrations } from "./wait-for-migrations.ts";

const TIMING = { timeoutMs: 10_000, pollMs: 50 };
const AT_ONCE = { timeoutMs: 0, pollMs: 50 };

let database: TestDatabase;
let applicationUrl: string;
let account: string;
beforeEach(async () => {
  database = await startTestDatabase();
  // Accounts belong to the server, which other test files use too.
  account = `waiting_${new URL(database.url).pathname.slice(1)}`;
  await database.owner.query("test.account", `create role ${account} login password '${account}'`);
  applicationUrl = Object.assign(new URL(database.url), { username: account, password: account }).href;
});
afterEach(async () => {
  await database.owner.query("test.drop_owned", `drop owned by ${account}`);
  await database.owner.query("test.drop_account", `drop role ${account}`);
  await database.stop();
});

describe("waiting for migrations", () => {
  it("ends when another process has migrated, for an account that cannot migrate itself", async () => {
    await expect(migrate(applicationUrl)).rejects.toThrow("permission denied");
    let isOver = false;
    const clock = createManualClock();
    const waiting = waitForMigrations(applicationUrl, clock, TIMING).finally(() => {
      isOver = true;
    });
    for (let polls = 0; polls < 3; polls++) {
      await clock.waitForTimer(TIMING.pollMs);
      await clock.advance(TIMING.pollMs);
    }
    await clock.waitForTimer(TIMING.pollMs);
    expect(isOver).toBe(false);
    await migrate(database.url, applicationUrl);
    await clock.advance(TIMING.pollMs);
    expect(await waiting).toEqual([]);
  });

  it("names the migrations that are missing after its timeout", async () => {
    await migrate(database.url, applicationUrl);
    await database.owner.query("test.undo", "delete from schema_migrations where name like '0011%'");
    expect(await waitForMigrations(applicationUrl, createManualClock(), AT_ONCE)).toEqual(["0011_security.sql"]);
  });

  it("fails at once on a schema that this version cannot use", async () => {
    await migrate(database.url, applicationUrl);
    const newer = "insert into schema_migrations (name, sha256, lowest_program) values ('9999_newer.sql', '', 9999)";
    await database.owner.query("test.newer", newer);
    await expect(waitForMigrations(applicationUrl, createManualClock(), TIMING)).rejects.toThrow(
      "removed what this version needs",
    );
  });
});
