import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { openSnapshot } from "../db/snapshot.ts";
import { createAssetStore } from "../storage/asset-store.ts";
import { createAssetUrlSigner } from "../storage/asset-urls.ts";
import type { ObjectStorage } from "../storage/object-storage.ts";
import { exportTenant } from "./export-tenant.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const PROMPTS = 1203;

const exportOf = (tenant: string) => {
  const urls = createAssetUrlSigner([new Uint8Array(32)], "https://gesso.example");
  const assets = createAssetStore({} as ObjectStorage, urls, "https://gesso.example");
  const clock = { now: () => 0, monotonic: () => 0 };
  return exportTenant({ assets, clock, openSnapshot: () => openSnapshot(database.url) }, tenant);
};
const insertPrompts = (tenant: string, count: number) =>
  database.db.query(
    "test.prompts",
    `insert into prompts (tenant_id, prompt_id, name, text, folded_name, folded_text)
     select $1, gen_random_uuid(), 'n', 't', 'n', 't' from generate_series(1, $2::int)`,
    [tenant, count],
  );
const insertTenant = async () => {
  const tenant = v7();
  await database.db.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant]);
  return tenant;
};

it("an export of many pages has every row once, of one moment and one tenant", async () => {
  const [tenant, other] = [await insertTenant(), await insertTenant()];
  await insertPrompts(tenant, PROMPTS);
  await insertPrompts(other, 10);
  const lines: any[] = [];
  for await (const line of exportOf(tenant)) {
    // Later changes are not seen, although most pages have not been read yet.
    if (lines.length === 0) await insertPrompts(tenant, 600);
    lines.push(JSON.parse(line));
  }
  const prompts = lines.filter(({ kind }) => kind === "prompt");
  expect(new Set(prompts.map(({ prompt_id }) => prompt_id)).size).toBe(PROMPTS);
  expect(prompts).toHaveLength(PROMPTS);
  expect(lines[0]).toEqual({ kind: "export", format: 1, tenant_id: tenant, exported_at: "1970-01-01T00:00:00.000Z" });
  expect(lines.at(-1)).toEqual({ kind: "end", lines: lines.length });
});

it("an export that is not read to its end closes its connection", async () => {
  const tenant = await insertTenant();
  await insertPrompts(tenant, 10);
  const countConnections = async () => {
    const [row] = await database.owner.query<{ count: number }>(
      "test.connections",
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and state = 'idle in transaction'`,
    );
    return row!.count;
  };
  const lines = exportOf(tenant);
  await lines.next();
  expect(await countConnections()).toBe(1);
  await lines.return(undefined);
  await expect.poll(countConnections).toBe(0);
});

it("an unknown tenant has no export", async () => {
  await expect(exportOf(v7()).next()).rejects.toMatchObject({ code: "route_not_found" });
});
