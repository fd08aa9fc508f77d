// End users inside a tenant, directly as the roles of the application: what the database shows to a statement that asks
// for everything, and what it lets it change.
import pg from "pg";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { connectDatabase, type Database } from "./connect.ts";

let database: TestDatabase;
const TENANTS = [v7(), v7()] as const;
const [OWN, OTHER] = TENANTS;
const END_USERS = ["alice", "bob", null] as const;
/** The ids of one run for each end user of each tenant, and of one that is for none. */
const runs = new Map<string, string>();
const runOf = (tenant: string, endUser: string | null) => runs.get(`${tenant} ${endUser}`)!;

/** Tables with the rows of a run, each with the columns that a row needs beside `run_id` and `tenant_id`. */
const ROWS: Record<string, [columns: string, values: string]> = {
  events: ["event_id, type", "gen_random_uuid(), 'run.queued'"],
  assets: [
    "asset_id, role, media_type, width, height, size_bytes, sha256",
    "gen_random_uuid(), 'output', 'image/png', 1, 1, 1, 'aa'",
  ],
  unsuccessful_runs: ["status", "'failed'"],
  run_marks: ["starred, tags", "true, '{a}'"],
};

beforeAll(async () => {
  database = await startTestDatabase();
  for (const tenant of TENANTS) {
    await database.db.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant]);
    for (const endUser of END_USERS) {
      const runId = v7();
      runs.set(`${tenant} ${endUser}`, runId);
      await database.db.query(
        "test.run",
        `insert into runs (run_id, tenant_id, user_id, end_user, operation, run_type, inputs, plan, root_run_id)
         values ($1, $2, 'u', $3, 'images.generate', 'image-generation', '{}', '[]', $1)`,
        [runId, tenant, endUser],
      );
      for (const [table, [columns, values]] of Object.entries(ROWS))
        await database.db.query(
          `test.${table}`,
          `insert into ${table} (run_id, tenant_id, ${columns}) values ($1, $2, ${values})`,
          [runId, tenant],
        );
    }
  }
});
afterAll(() => database?.stop());

const listRuns = (db: Database, table: string) =>
  db
    .query<{ run_id: string }>(`test.list_${table}`, `select run_id from ${table}`)
    .then((rows) => [...new Set(rows.map(({ run_id }) => run_id))].sort());

describe("a statement in the name of an end user", () => {
  it.each(["runs", ...Object.keys(ROWS)])(
    "sees the rows of %s that belong to its runs, and no other",
    async (table) => {
      const tenantWide = await listRuns(database.db.forTenant(OWN), table);
      expect(tenantWide).toEqual(END_USERS.map((endUser) => runOf(OWN, endUser)).sort());
      expect(await listRuns(database.db.forTenant(OWN, "alice"), table)).toEqual([runOf(OWN, "alice")]);
      expect(await listRuns(database.db.forTenant(OWN, "dave"), table)).toEqual([]);
      expect(await listRuns(database.db.forTenant(OTHER, "alice"), table)).toEqual([runOf(OTHER, "alice")]);
    },
  );

  it("changes and deletes no row of another end user", async () => {
    const db = database.db.forTenant(OWN, "alice");
    const theirs = [runOf(OWN, "bob"), runOf(OWN, null), runOf(OTHER, "alice")];
    for (const table of ["runs", ...Object.keys(ROWS)]) {
      const update = `update ${table} set tenant_id = tenant_id where run_id = any ($1) returning 1`;
      expect([table, await db.query(`test.update_${table}`, update, [theirs])]).toEqual([table, []]);
      const remove = `delete from ${table} where run_id = any ($1) returning 1`;
      expect([table, await db.query(`test.delete_${table}`, remove, [theirs])]).toEqual([table, []]);
    }
  });

  it("inserts no run for another end user or for none, and moves none of its own", async () => {
    const db = database.db.forTenant(OWN, "alice");
    const insert = `insert into runs (run_id, tenant_id, user_id, end_user, operation, run_type, inputs, plan, root_run_id)
      values ($1, $2, 'u', $3, 'images.generate', 'image-generation', '{}', '[]', $1)`;
    for (const [tenant, endUser] of [
      [OWN, "bob"],
      [OWN, null],
      [OTHER, "alice"],
    ])
      await expect(db.query("test.foreign_run", insert, [v7(), tenant, endUser])).rejects.toThrow("row-level security");
    await expect(
      db.query("test.move_run", "update runs set end_user = 'bob' where run_id = $1", [runOf(OWN, "alice")]),
    ).rejects.toThrow("row-level security");
    const own = v7();
    await db.query("test.foreign_run", insert, [own, OWN, "alice"]);
    await database.db.query("test.remove_run", "delete from runs where run_id = $1", [own]);
  });

  it("queues no work but the deletion of its tenant's files, and names no file outside", async () => {
    const db = database.db.forTenant(OWN, "alice");
    const queue = "insert into outbox (outbox_id, kind, payload) values ($1, 'delete_files', $2)";
    await expect(db.query("test.outbox", queue, [v7(), { keys: [`t/${OTHER}/r/x`] }])).rejects.toThrow("own files");
    await expect(db.query("test.key", "update assets set storage_key = $1", [`t/${OTHER}/r/x`])).rejects.toThrow(
      "not below the prefix of the tenant",
    );
  });

  it("sees no run at all if it names no end user", async () => {
    const client = new pg.Client({ connectionString: database.url, options: "-c role=gesso_end_user" });
    await client.connect();
    try {
      for (const tenant of ["", OWN]) {
        await client.query("select set_config('app.tenant', $1, false)", [tenant]);
        for (const table of ["runs", ...Object.keys(ROWS), "attempts", "planned_requests"])
          expect([table, (await client.query(`select from ${table}`)).rowCount]).toEqual([table, 0]);
      }
    } finally {
      await client.end();
    }
  });

  it("sees its runs alone, with three of them and statements of the tenant on two connections, directly and pooled", async () => {
    for (const urls of [{}, { DIRECT_DATABASE_URL: "postgres://unused" }]) {
      const db = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 2, ...urls });
      try {
        const asked = Array.from({ length: 400 }, async (_, n) => {
          const endUser = [undefined, "alice", "bob"][n % 3];
          const seen = await listRuns(db.forTenant(OWN, endUser), "runs");
          return endUser === undefined ? seen.length === 3 : seen.join() === runOf(OWN, endUser);
        });
        expect((await Promise.all(asked)).every((isRight) => isRight)).toBe(true);
      } finally {
        await db.close();
      }
    }
  });
});

it("every table with rows of runs hides those of other end users, except four without content", async () => {
  const rows = await database.owner.query<{ name: string }>(
    "test.unprotected",
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and 2 = (select count(*) from pg_attribute
                where attrelid = pg_class.oid and attname in ('tenant_id', 'run_id') and not attisdropped)
       and not exists (select from pg_policy where polrelid = pg_class.oid and polname = 'end_user_isolation'
                       and not polpermissive)
     order by relname`,
  );
  expect(rows.map(({ name }) => name)).toEqual(["open_requests", "open_runs", "run_index", "staged_runs"]);
});
