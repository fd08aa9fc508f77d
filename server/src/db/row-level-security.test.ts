// The second wall, by itself: what the database shows to whom, whatever a statement asks for.
import pg from "pg";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { migrate } from "./migrations/migrate.ts";

let database: TestDatabase;
const TENANTS = [v7(), v7()] as const;
const EACH = 50;

beforeAll(async () => {
  database = await startTestDatabase();
  for (const tenant of TENANTS) {
    await database.db.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant]);
    for (let n = 0; n < EACH; n++) {
      await database.db.query(
        "test.prompt",
        "insert into prompts (tenant_id, prompt_id, name, text, folded_name, folded_text) values ($1, $2, 'x', 'x', 'x', 'x')",
        [tenant, v7()],
      );
    }
  }
});
afterAll(() => database?.stop());

const INSUFFICIENT_PRIVILEGE = "42501";
const SCHEMA_CHANGES = [
  "create table planted (x int)",
  "create schema planted",
  "create function planted() returns int language sql as 'select 1'",
  "create extension hstore",
  "alter table runs add column planted int",
  "alter table runs disable row level security",
  "alter table runs no force row level security",
  "alter table runs owner to worker",
  "create policy planted on runs using (true)",
  "drop policy tenant_isolation on runs",
  "drop table runs",
  "drop function apply_row_level_security()",
  "drop schema public",
  "truncate audit_log",
  "create role planted superuser",
  "alter role worker bypassrls",
];

type Table = {
  name: string;
  is_forced: boolean;
  policies: string[];
  app: boolean;
  system: boolean;
  is_partition: boolean;
};
const tables = () =>
  database.owner.query<Table>(
    "test.tables",
    `select relname::text as name, relforcerowsecurity and relrowsecurity as is_forced, relispartition as is_partition,
       array(select polname::text from pg_policy where polrelid = pg_class.oid order by polname) as policies,
       has_any_column_privilege('gesso_app', pg_class.oid, 'select, insert, update') as app,
       has_any_column_privilege('gesso_system', pg_class.oid, 'select, insert, update') as system
     from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and exists (
       select from pg_attribute where attrelid = pg_class.oid and attname = 'tenant_id' and not attisdropped)`,
  );

describe("every table that has a tenant", () => {
  it("has row-level security, for its owner too, and no grants on partitions", async () => {
    const all = await tables();
    const whole = all.filter((table) => !table.is_partition);
    expect(whole.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["runs", "assets", "prompts", "api_keys", "audit_log"]),
    );
    expect(whole.filter(({ is_forced, policies }) => !is_forced || !policies.includes("tenant_isolation"))).toEqual([]);
    expect(all.filter((table) => table.is_partition && (table.app || table.system))).toEqual([]);
  });

  it("shows nothing through a partition of its own: tenants have no grant on it", async () => {
    await database.owner.query(
      "test.parent",
      "create table measured (measured_id uuid, tenant_id uuid) partition by range (measured_id)",
    );
    await database.owner.query("test.part", "create table measured_all partition of measured default");
    await database.owner.query("test.rls", "select apply_row_level_security()");
    for (const tenant of TENANTS) {
      await database.db.query("test.measured", "insert into measured values ($1, $2)", [v7(), tenant]);
    }
    const db = database.db.forTenant(TENANTS[0]);
    expect(await db.query("test.through_parent", "select tenant_id from measured")).toEqual([
      { tenant_id: TENANTS[0] },
    ]);
    await expect(db.query("test.through_part", "select tenant_id from measured_all")).rejects.toThrow(
      "permission denied",
    );
    await database.owner.query("test.drop_parent", "drop table measured");
  });

  it("shows nothing to a statement without a tenant, nor with one that does not exist", async () => {
    const client = new pg.Client({ connectionString: database.url, options: "-c role=gesso_app" });
    await client.connect();
    try {
      for (const tenant of ["", v7()]) {
        await client.query("select set_config('app.tenant', $1, false)", [tenant]);
        for (const { name, is_partition } of await tables()) {
          if (is_partition || name === "lora_names") continue;
          expect([name, (await client.query(`select from ${name}`)).rowCount]).toEqual([name, 0]);
        }
      }
    } finally {
      await client.end();
    }
  });

  it("takes no row of another tenant, and changes and deletes none", async () => {
    const [mine, theirs] = TENANTS;
    const db = database.db.forTenant(mine);
    const insert =
      "insert into prompts (tenant_id, prompt_id, name, text, folded_name, folded_text) values ($1, $2, '', '', '', '')";
    await expect(db.query("test.foreign", insert, [theirs, v7()])).rejects.toThrow("row-level security");
    expect(
      await db.query("test.change", "update prompts set name = 'y' where tenant_id = $1 returning 1", [theirs]),
    ).toEqual([]);
    expect(await db.query("test.gone", "delete from prompts where tenant_id = $1 returning 1", [theirs])).toEqual([]);
    await expect(
      db.query("test.move", "update prompts set tenant_id = $1 where tenant_id = $2", [theirs, mine]),
    ).rejects.toThrow("row-level security");
  });
});

describe("the role of a tenant", () => {
  const [mine, theirs] = TENANTS;
  const as = () => database.db.forTenant(mine);
  const keyOf = (tenant: string) => `t/${tenant}/r/${v7()}/${"0".repeat(64)}`;

  it("changes no LoRA name, of another tenant or its own, and can still read and register names", async () => {
    const insert = "insert into lora_names (lora_name, tenant_id, owner) values ($1, $2, 'ann')";
    await database.db.query("test.their_lora", insert, ["their-lora", theirs]);
    await as().query("test.my_lora", insert, ["my-lora", mine]);
    for (const [n, change] of ["owner = 'eve'", `tenant_id = '${mine}'`, "lora_name = 'taken'"].entries()) {
      for (const name of ["their-lora", "my-lora"]) {
        const text = `update lora_names set ${change} where lora_name = $1`;
        // Setting its own tenant id on its own row changes nothing.
        if (name === "my-lora" && n === 1) continue;
        await expect(as().query(`test.lora_${n}`, text, [name])).rejects.toThrow("keeps its owner");
      }
    }
    const conflict = `${insert} on conflict (lora_name) do update set lora_name = excluded.lora_name returning owner`;
    expect(await as().query("test.lora_conflict", conflict, ["their-lora", mine])).toEqual([{ owner: "ann" }]);
    expect(
      await database.db.query(
        "test.loras",
        "select tenant_id, owner from lora_names where lora_name like '%-lora' order by lora_name",
      ),
    ).toEqual([
      { tenant_id: mine, owner: "ann" },
      { tenant_id: theirs, owner: "ann" },
    ]);
  });

  it("queues the deletion of its own files, and of no other key", async () => {
    const insert = "insert into outbox (outbox_id, kind, payload) values ($1, $2, $3)";
    const queue = (payload: object, kind = "delete_files") => as().query("test.outbox", insert, [v7(), kind, payload]);
    await queue({ keys: [keyOf(mine), keyOf(mine)] });
    await queue({ keys: [], run_prefix: `t/${mine}/r/${v7()}/` });
    const refused: [object, string?][] = [
      [{ keys: [keyOf(theirs)] }],
      [{ keys: [keyOf(mine), keyOf(theirs)] }],
      [{ keys: [`t/${mine}/../${theirs}/r/x`] }],
      [{ keys: [`t/${mine}`] }],
      [{ keys: [`t/${mine}0/r/x`] }],
      [{ keys: ["tmp/x"] }],
      [{ keys: [null] }],
      [{}],
      [{ keys: keyOf(mine) }],
      [{ keys: [], run_prefix: `t/${theirs}/r/${v7()}/` }],
      [{ keys: [], run_prefix: `t/${mine}/r/${v7()}` }],
      [{ keys: [], run_prefix: `t/${mine}/r/` }],
      [{ keys: [], run_prefix: `t/${mine}/archive/` }],
      [{ keys: [], run_prefix: "t/" }],
      [{ keys: [], run_prefix: null }],
      [{ run_id: v7(), provider: "fal", ticket: {} }, "cancel_job"],
    ];
    for (const [payload, kind] of refused)
      await expect(queue(payload, kind), JSON.stringify(payload)).rejects.toThrow("only deletions of the tenant's own");
    const rows = await database.db.query<{ n: number }>("test.queued", "select count(*)::int as n from outbox");
    expect(rows).toEqual([{ n: 2 }]);
  });

  it("records and moves no file to the key of another tenant", async () => {
    const insert = `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height,
         size_bytes, sha256) values ($1, $2, $3, 'output', $4, 'image/png', 1, 1, 1, $5)`;
    const record = (key: string | null, digest = "0") =>
      as().query("test.asset", insert, [v7(), v7(), mine, key, digest]);
    const move = (column: string, value: string) =>
      as().query(`test.move_${column}`, `update assets set ${column} = $1 where storage_key is null`, [value]);
    await record(keyOf(mine));
    await record(null);
    // Without a stored key, the digest is the last segment of the key.
    const away = `../../../${theirs}/r/x`;
    for (const refused of [
      () => record(keyOf(theirs)),
      () => record(null, away),
      () => move("storage_key", keyOf(theirs)),
      () => move("sha256", away),
    ])
      await expect(refused()).rejects.toThrow("not below the prefix of the tenant");
  });
});

describe("the roles", () => {
  it("own nothing and pass no wall, and leave the log as it is", async () => {
    const roles = await database.owner.query(
      "test.roles",
      `select rolname, rolsuper or rolbypassrls or rolcreaterole or rolcanlogin as may,
         exists (select from pg_class where relowner = pg_roles.oid) as owns
       from pg_roles where rolname in ('gesso_app', 'gesso_end_user', 'gesso_system') order by rolname`,
    );
    expect(roles).toEqual([
      { rolname: "gesso_app", may: false, owns: false },
      { rolname: "gesso_end_user", may: false, owns: false },
      { rolname: "gesso_system", may: false, owns: false },
    ]);
    for (const db of [database.db, database.db.forTenant(TENANTS[0])]) {
      await expect(db.query("test.rewrite", "update audit_log set subject = 'x'")).rejects.toThrow("permission denied");
      await expect(db.query("test.erase", "delete from audit_log")).rejects.toThrow("permission denied");
    }
  });
});

/** Only LISTEN would connect there. */
const UNUSED_URL = "postgres://unused";

describe("a statement in the name of a tenant", () => {
  const seeOwnRowsAlone = async (db: Database) => {
    try {
      const asked = Array.from({ length: 1000 }, async (_, n) => {
        if (n % 10 === 9) {
          const [row] = await db.query<{ role: string; tenant: string | null }>(
            "test.left",
            "select current_user::text as role, current_setting('app.tenant', true) as tenant",
          );
          return [row!.role === "gesso_system" && !row!.tenant, true];
        }
        const tenant = TENANTS[n % 2]!;
        const rows = await db
          .forTenant(tenant)
          .query<{ tenant_id: string }>("test.all", "select tenant_id from prompts");
        return [rows.every((row) => row.tenant_id === tenant), rows.length === EACH];
      });
      expect((await Promise.all(asked)).filter(([isOwn, isWhole]) => !isOwn || !isWhole)).toEqual([]);
    } finally {
      await db.close();
    }
  };

  it("sees that tenant alone, with two of them interleaved on five connections, and leaves nothing behind", () =>
    seeOwnRowsAlone(connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 5 })));

  it("sees that tenant alone if a pooler gives each transaction another session", () =>
    seeOwnRowsAlone(
      connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 5, DIRECT_DATABASE_URL: UNUSED_URL }),
    ));

  it("brings its settings with it if a pooler gives each transaction another session", async () => {
    const [DATABASE_URL, DATABASE_POOL] = [database.url, 1];
    const settings = `select current_user::text as role, current_setting('plan_cache_mode') as plans,
      current_setting('enable_seqscan') as scans, current_setting('jit') as jit,
      current_setting('statement_timeout') as timeout`;
    const expected = { plans: "force_generic_plan", scans: "off", jit: "off", timeout: "10s" };
    for (const urls of [{}, { DIRECT_DATABASE_URL: UNUSED_URL }]) {
      const db = connectDatabase({ DATABASE_URL, DATABASE_POOL, ...urls });
      try {
        expect(await db.query("test.settings", settings)).toEqual([{ role: "gesso_system", ...expected }]);
        expect(await db.forTenant(TENANTS[0]).query("test.settings", settings)).toEqual([
          { role: "gesso_app", ...expected },
        ]);
      } finally {
        await db.close();
      }
    }
  });

  it("fails without an effect on the next statement of its connection", async () => {
    const db = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 2 });
    try {
      for (let n = 0; n < 20; n++) {
        await expect(db.forTenant(TENANTS[0]).query("test.wrong", "select 1 / $1::int as one", [0])).rejects.toThrow(
          "division",
        );
        await expect(db.forTenant("no uuid").query("test.odd", "select * from prompts")).rejects.toThrow("uuid");
        expect(await db.forTenant(TENANTS[1]).query("test.right", "select $1::int as one", [n])).toEqual([{ one: n }]);
      }
    } finally {
      await db.close();
    }
  });
});

describe("an owner who is no superuser", () => {
  it("migrates, and lets in another who may do nothing but work", async () => {
    await database.owner.query("test.dba", "create role dba login createrole password 'dba'");
    await database.owner.query("test.worker", "create role worker login password 'worker'");
    await database.owner.query("test.admin", "grant gesso_app, gesso_system, gesso_end_user to dba with admin option");
    await database.owner.query("test.database", "create database other owner dba");
    const urlOf = (user: string) => {
      const url = new URL(database.url);
      [url.username, url.password, url.pathname] = [user, user, "/other"];
      return url.href;
    };
    await migrate(urlOf("dba"), urlOf("worker"));
    const db = connectDatabase({ DATABASE_URL: urlOf("worker"), DATABASE_POOL: 2 });
    try {
      await db.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [TENANTS[0]]);
      expect(await db.forTenant(TENANTS[0]).query("test.own", "select tenant_id from tenants")).toHaveLength(1);
      expect(await db.forTenant(TENANTS[1]).query("test.own", "select tenant_id from tenants")).toHaveLength(0);
      for (const [index, sql] of SCHEMA_CHANGES.entries()) {
        for (const account of [db, db.forTenant(TENANTS[0])]) {
          const change = account.query(`test.change_${index}`, sql).catch((error) => error);
          expect(await change, sql).toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
        }
      }
    } finally {
      await db.close();
    }
  });
});
