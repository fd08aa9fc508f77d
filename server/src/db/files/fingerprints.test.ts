import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { registeredStatements } from "../statement.ts";
import { findSimilarImage } from "./fingerprints.ts";

const [TENANT, OTHER_TENANT] = [v7(), v7()];
const FILES = 6000;
const WANTED = "01".repeat(64);
/** The wanted fingerprint with its last bits inverted. */
const differingBy = (bits: number) =>
  WANTED.slice(0, 128 - bits) + [...WANTED.slice(128 - bits)].map((bit) => (bit === "1" ? "0" : "1")).join("");

let database: TestDatabase;
const ids: Record<"near" | "nearest" | "ofOther" | "deleted", string> = {
  ...{ near: v7(), nearest: v7(), ofOther: v7(), deleted: v7() },
};
const insertFile = (assetId: string, tenantId: string, fingerprint: string) =>
  database.owner.query(
    "test.file",
    `insert into assets (asset_id, run_id, tenant_id, role, media_type, width, height, size_bytes, sha256, fingerprint)
     values ($1, $1, $2, 'thumbnail', 'image/webp', 1, 1, 1, repeat('0', 64), $3::bit(128))`,
    [assetId, tenantId, fingerprint],
  );
beforeAll(async () => {
  database = await startTestDatabase();
  // Of three files of a run, one has a fingerprint; these differ from the wanted one by about half of the bits.
  await database.owner.query(
    "test.files",
    `insert into assets (asset_id, run_id, tenant_id, role, media_type, width, height, size_bytes, sha256, fingerprint)
     select uuidv7(), uuidv7(), $1, 'thumbnail', 'image/webp', 1, 1, 1, repeat('0', 64),
       case when n % 3 = 0 then ('x' || md5(n::text))::bit(128) end
     from generate_series(1, $2::int) n`,
    [TENANT, FILES],
  );
  await insertFile(ids.near, TENANT, differingBy(9));
  await insertFile(ids.nearest, TENANT, differingBy(4));
  await insertFile(ids.ofOther, OTHER_TENANT, WANTED);
  await insertFile(ids.deleted, TENANT, differingBy(1));
  await database.owner.query("test.delete", "update assets set deleted_at = now() where asset_id = $1", [ids.deleted]);
  // Vacuum marks pages as visible to all only if what they have is on the disk.
  await database.owner.query("test.flush", "checkpoint", []);
  await database.owner.query("test.vacuum", "vacuum analyze assets", []);
});
afterAll(() => database.stop());

it("the nearest file of the tenant is found, no deleted one and none of another tenant", async () => {
  const found = await findSimilarImage(database.db.forTenant(TENANT), TENANT, [differingBy(128), WANTED], 16);
  expect(found).toEqual({ asset_id: ids.nearest, run_id: ids.nearest, distance: 4 });
});

it("a file that differs by too many bits is not found", async () => {
  expect(await findSimilarImage(database.db.forTenant(TENANT), TENANT, [WANTED], 3)).toBeUndefined();
});

it("fingerprints are read from their index alone, and no file of another image is", async () => {
  const [found] = registeredStatements.get("fingerprints.find_similar")!;
  const values = { tenant_id: TENANT, fingerprints: [WANTED], max_distance: 16 };
  const ordered = found!.parameterNames.map((name) => values[name as keyof typeof values]);
  const lines = await database.db
    .forTenant(TENANT)
    .query<{ "QUERY PLAN": string }>("test.plan", `explain (analyze, costs off) ${found!.text}`, ordered);
  const plan = lines.map((line) => line["QUERY PLAN"]).join("\n");
  expect(plan).toContain("Index Only Scan using assets_by_fingerprint");
  expect(plan).toMatch(/Index Scan using assets_by_fingerprint.*loops=3/);
  expect(plan).not.toContain("Seq Scan on assets");
});

it("an end user finds the nearest file of its own runs, and not a nearer one of another end user", async () => {
  const [own, other] = [v7(), v7()];
  for (const [runId, endUser, bits] of [
    [own, "alice", 12],
    [other, "bob", 0],
  ] as const) {
    await database.owner.query(
      "test.run",
      `insert into runs (run_id, tenant_id, user_id, end_user, operation, run_type, inputs, plan, root_run_id)
       values ($1, $2, 'u', $3, 'images.generate', 'image-generation', '{}', '[]', $1)`,
      [runId, TENANT, endUser],
    );
    await insertFile(runId, TENANT, differingBy(bits));
  }
  const find = (endUser?: string) => findSimilarImage(database.db.forTenant(TENANT, endUser), TENANT, [WANTED], 16);
  expect(await find("alice")).toEqual({ asset_id: own, run_id: own, distance: 12 });
  expect(await find("bob")).toEqual({ asset_id: other, run_id: other, distance: 0 });
  expect(await find("carol")).toBeUndefined();
  expect(await find()).toEqual({ asset_id: other, run_id: other, distance: 0 });
});
