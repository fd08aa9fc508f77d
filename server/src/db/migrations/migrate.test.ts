// Migrations beside running processes: programs older than the schema, locks, concurrent index builds.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { until } from "../../../test/support/until.ts";
import { migrate, waitForMigrations } from "./migrate.ts";
import { MIGRATIONS_FOLDER } from "./migration-files.ts";

const TIMING = { lockMs: 100, retryMs: 100, attempts: 50 };

let database: TestDatabase;
const folders: string[] = [];
beforeEach(async () => {
  database = await startTestDatabase();
});
afterEach(async () => {
  await database.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The migrations of this version and more. */
function folderWith(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), "gesso-migrations-"));
  folders.push(folder);
  cpSync(MIGRATIONS_FOLDER, folder, { recursive: true });
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql);
  return pathToFileURL(`${folder}/`);
}

const migrateWith = (files: Record<string, string>, timing = TIMING) =>
  migrate(database.url, database.url, { folder: folderWith(files), timing });

const EXPAND = {
  "0900_add_region.sql": "-- expand: tenants have a region\nalter table tenants add column region text;",
};
const CONTRACT = {
  "0901_drop_region.sql": "-- contract since 0900: the region is unused\nalter table tenants drop column region;",
};

describe("migrate", () => {
  it("lets a program start on a schema that a newer version expanded", async () => {
    expect(await migrateWith(EXPAND)).toEqual(["0900_add_region.sql"]);
    expect(await migrate(database.url)).toEqual([]);
    expect(await migrateWith(EXPAND)).toEqual([]);
  });

  it("refuses a program that a contract migration has left behind, and accepts the ones after it", async () => {
    await migrateWith({ ...EXPAND, ...CONTRACT });
    await expect(migrate(database.url)).rejects.toThrow("0901_drop_region.sql removed what this version needs");
    expect(await migrateWith(EXPAND)).toEqual([]);
  });

  it("refuses a program with migrations that the newer schema lacks", async () => {
    await migrateWith(EXPAND);
    const other = { "0899_add_zone.sql": "-- expand: tenants have a zone\nalter table tenants add column zone text;" };
    await expect(migrateWith(other)).rejects.toThrow("migrated by another version (0900_add_region.sql)");
  });

  it("refuses a file that was changed after it had been applied", async () => {
    await migrateWith(EXPAND);
    const changed = { "0900_add_region.sql": `${EXPAND["0900_add_region.sql"]}\n-- more` };
    await expect(migrateWith(changed)).rejects.toThrow("0900_add_region.sql was changed");
  });

  it("refuses a file without a declared kind", async () => {
    await expect(migrateWith({ "0900_odd.sql": "select 1;" })).rejects.toThrow("first line");
  });

  it("gives its locks up while a transaction holds the table, so that other statements pass, and then succeeds", async () => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query("begin; select from tenants limit 1");
    const migrated = migrateWith(EXPAND);
    const waiting = `select count(*)::int as n from pg_locks join pg_database d on d.oid = database
      where not granted and mode = 'AccessExclusiveLock' and datname = current_database()`;
    for (let round = 0; round < 3; round++) {
      await until(async () => (await database.owner.query<{ n: number }>("test.waiting", waiting))[0]!.n > 0);
      // Queues behind the migration, and passes because the migration gives up: the other transaction is still open.
      await database.owner.query("test.read", "select count(*) from tenants");
    }
    await holder.query("commit");
    expect(await migrated).toEqual(["0900_add_region.sql"]);
    await holder.end();
  });

  it("stops after its attempts and leaves nothing half done", async () => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query("begin; select from tenants limit 1");
    await expect(migrateWith(EXPAND, { ...TIMING, attempts: 2 })).rejects.toThrow("could not lock its tables");
    await holder.end();
    const applied = await database.owner.query(
      "test.applied",
      "select name from schema_migrations where name > '0900'",
    );
    expect(applied).toEqual([]);
  });

  it("builds an index concurrently while other processes wait for the migration, and again after an interruption", async () => {
    const sql = "-- expand: find tenants by name\ncreate index concurrently tenants_by_name on tenants (name);";
    // A unique index over duplicate rows fails and stays behind as invalid, as an interrupted build does.
    await database.owner.query(
      "test.more",
      "insert into tenants (tenant_id, name) select gen_random_uuid(), 'same' from generate_series(1, 2)",
    );
    await database.owner.query("test.fail", sql.replace("create", "create unique")).catch(() => {});
    const states = "select indisvalid from pg_index where indexrelid = 'tenants_by_name'::regclass";
    expect(await database.owner.query("test.state", states)).toEqual([{ indisvalid: false }]);

    const files = { "0900_index.sql": sql };
    const outcomes = await Promise.all([1, 2, 3].map(() => migrateWith(files)));
    expect(outcomes.flat()).toEqual(["0900_index.sql"]);
    expect(await database.owner.query("test.state", states)).toEqual([{ indisvalid: true }]);
  });

  it("drops an index concurrently, and finishes after an interruption", async () => {
    const sql = "-- contract since 0900: the index is unused\ndrop index concurrently tenants_by_region;";
    await migrateWith(EXPAND);
    await database.owner.query("test.index", "create index tenants_by_region on tenants (region)");
    const files = { ...EXPAND, "0901_drop_index.sql": sql };
    expect(await migrateWith(files)).toEqual(["0901_drop_index.sql"]);
    expect(await database.owner.query("test.left", "select to_regclass('tenants_by_region') as index")).toEqual([
      { index: null },
    ]);
    await database.owner.query("test.forget", "delete from schema_migrations where name = '0901_drop_index.sql'");
    expect(await migrateWith(files)).toEqual(["0901_drop_index.sql"]);
  });

  it("puts a new table of tenants under row-level security even if a later migration fails", async () => {
    const files = {
      "0900_notes.sql": "-- expand: notes\ncreate table notes (tenant_id uuid not null, text text not null);",
      "0901_wrong.sql": "-- expand: a mistake\nselect 1/0;",
    };
    await expect(migrateWith(files)).rejects.toThrow("division");
    const tables = "select relrowsecurity and relforcerowsecurity as is_secured from pg_class where relname = 'notes'";
    expect(await database.owner.query("test.notes", tables)).toEqual([{ is_secured: true }]);
  });
});

describe("waiting for migrations", () => {
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
});
