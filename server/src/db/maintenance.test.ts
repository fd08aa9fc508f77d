// Maintenance on a real database: it deletes everything that has expired, in bounded turns, and blocks no reader or
// writer, also while another transaction holds the tables.
import pg from "pg";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { runMaintenance } from "./maintenance.ts";
import { insertRun, type NewRun } from "./runs/insert-run.ts";
import { runWebhookMaintenance } from "./webhooks/maintenance.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const TENANT = v7();
/** Of the first two tables there are more rows than one turn deletes. */
const MANY_ROWS = 60_000;
const FEW_ROWS = 6000;

const INSERT_EXPIRED = {
  idempotency_keys: `insert into idempotency_keys (tenant_id, key, fingerprint, resource_kind, resource_id, caller_id, created_at)
    select $1, n::text, '', 'run', $1, $1, now() - interval '8 days' from generate_series(1, $2::int) as n`,
  webhook_secrets: `insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed, ends_at)
    select $1, gen_random_uuid(), gen_random_uuid(), 'k', '', now() - interval '1 day' from generate_series(1, $2::int)`,
  events: `insert into events (run_id, event_id, tenant_id, type)
    select uuid_floor(now() - make_interval(days => 31, secs => n)), gen_random_uuid(), $1, 'run.progress'
    from generate_series(1, $2::int) as n`,
  webhook_deliveries: `insert into webhook_deliveries (delivery_id, tenant_id, event_id, type, url)
    select uuid_floor(now() - make_interval(days => 31, secs => n)), $1, $1, 'run.failed', 'https://x'
    from generate_series(1, $2::int) as n`,
  webhook_attempts: `insert into webhook_attempts (delivery_id, attempt, tenant_id, started_at, duration_ms)
    select uuid_floor(now() - make_interval(days => 31, secs => n)), 1, $1, now(), 1
    from generate_series(1, $2::int) as n`,
};

const countRows = async (table: string) => {
  const [row] = await database.db.query<{ count: number }>(
    `test.count.${table}`,
    `select count(*)::int as count from ${table} where tenant_id = $1`,
    [TENANT],
  );
  return row!.count;
};

describe("maintenance", () => {
  it("deletes all expired rows, however many there are, in turns of a few seconds", async () => {
    for (const [index, [table, text]] of Object.entries(INSERT_EXPIRED).entries()) {
      await database.db.query(`test.expired.${table}`, text, [TENANT, index < 2 ? MANY_ROWS : FEW_ROWS]);
      await database.owner.query(`test.analyze.${table}`, `analyze ${table}`);
    }
    const openDelivery = v7({ msecs: Date.now() - 40 * 86_400_000 });
    await database.db.query(
      "test.delivery",
      "insert into webhook_deliveries (delivery_id, tenant_id, event_id, type, url) values ($1, $2, $2, 'x', 'x')",
      [openDelivery, TENANT],
    );
    await database.db.query(
      "test.open_delivery",
      `insert into open_deliveries (delivery_id, tenant_id, destination, host, expires_at)
       values ($1, $2, 'x', 'x', now() + interval '1 day')`,
      [openDelivery, TENANT],
    );
    const start = performance.now();
    let turns = 0;
    const turn = async () => {
      turns++;
      const hasMore = await runMaintenance(database.db, 30);
      return (await runWebhookMaintenance(database.db, 30)) || hasMore;
    };
    while (await turn()) expect(turns).toBeLessThan(10);
    const rowsPerSecond = (2 * MANY_ROWS + 3 * FEW_ROWS) / ((performance.now() - start) / 1000);
    expect(turns).toBeGreaterThan(1);
    for (const table of Object.keys(INSERT_EXPIRED)) {
      expect([table, await countRows(table)]).toEqual([table, table === "webhook_deliveries" ? 1 : 0]);
    }
    expect(rowsPerSecond).toBeGreaterThan(1000);
  });

  it("waits for no reader or writer, and none waits for it", async () => {
    const other = new pg.Client({ connectionString: database.url, options: "-c role=gesso_system" });
    await other.connect();
    await other.query("begin");
    for (const table of ["runs", "events", "transfers", "webhook_deliveries"])
      await other.query(`lock table ${table} in row exclusive mode`);
    // The locks are held until the end of this test: a wait for one would never end.
    const maintenance = Promise.all([runMaintenance(database.db, 30), runWebhookMaintenance(database.db, 30)]);
    await insertRun(database.db, newRun(v7()));
    await maintenance;
    await other.query("rollback");
    await other.end();
  });
});

const newRun = (run_id: string): NewRun => ({
  ...{ run_id, tenant_id: TENANT, user_id: "u", operation: "images.generate", run_type: "image-generation" },
  ...{ inputs: {}, plan: [], metadata: {}, warnings: [], root_run_id: run_id, depth: 1, lane: "x" },
  ...{ deadlineSeconds: 60, event_id: v7() },
});
