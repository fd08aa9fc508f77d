// The check of stored bytes on a real database: consistent, changed by hand and unreachable.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { checkStorageUsage } from "./check-storage-usage.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const check = (url = database.url) => checkStorageUsage({ DATABASE_URL: url });

describe("the check of stored bytes", () => {
  it("passes if every tenant is counted with its files, and names a tenant that is not", async () => {
    const tenant = v7();
    await database.owner.query(
      "test.asset",
      `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256)
       values ($1, $1, $2, 'source', 'k', 'image/png', 1, 1, 250, 'x')`,
      [v7(), tenant],
    );
    expect((await check()).status).toBe("pass");
    await database.owner.query("test.change", "update storage_usage set bytes = bytes - 50");
    expect(await check()).toMatchObject({
      ...{ name: "storage usage", status: "fail" },
      message: `1 tenant is counted wrongly, such as ${tenant}: 200 bytes instead of 250`,
    });
  });

  it("is skipped if the database is not reachable", async () => {
    const found = await check("postgres://gesso@127.0.0.1:1/gesso");
    expect([found.status, found.message]).toEqual(["skip", expect.stringContaining("storage usage not readable: ")]);
  });
});
