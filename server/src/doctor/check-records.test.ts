// The checks of records on a real database: consistent, tampered with and unreachable.
import { randomUUID } from "node:crypto";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { createAuditSeal } from "../db/access/audit-seal.ts";
import { createKeyDerivation } from "../db/access/derive-keys.ts";
import { checkAuditLog, checkLedger, checkStorageUsage } from "./check-records.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

describe("the ledger check", () => {
  const check = (url = database.url) => checkLedger({ DATABASE_URL: url });

  it("passes for a consistent ledger and reports a reserve without an open run", async () => {
    expect(await check()).toEqual({ name: "ledger", status: "pass", message: "all ledger invariants hold" });
    await database.owner.query(
      "test.tamper",
      `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
       values (uuidv7(), 'reserve', $1, 'credit', 'reserved', 5)`,
      [randomUUID()],
    );
    const found = await check();
    expect([found.status, found.message]).toEqual(["fail", "1 violation: only open runs hold money"]);
    expect(found.fix).toContain("do not edit the tables. Back up the database and see `Ledger` in the budgets guide");
  });

  it("is skipped if the database is not reachable", async () => {
    const found = await check("postgres://gesso@127.0.0.1:1/gesso");
    expect([found.status, found.message]).toEqual(["skip", expect.stringContaining("ledger not readable: ")]);
  });
});

describe("the check of stored bytes", () => {
  const check = (url = database.url) => checkStorageUsage({ DATABASE_URL: url });

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

describe("the check of the audit log", () => {
  const secrets = { GESSO_SECRET: "a secret that is long enough to be one", GESSO_ACCEPTED_SECRETS: [] };
  const check = (DATABASE_URL = database.url) =>
    checkAuditLog({ DATABASE_URL, DATABASE_POOL: 2, ...secrets }, () => Date.now());

  it("passes for a complete log, and names the tenant and the entry that was removed from its end", async () => {
    const tenant = v7();
    const insert = "insert into audit_log (tenant_id, user_id, action, subject) values ($1, 'ann', 'keys.create', 'x')";
    for (let n = 0; n < 3; n++) await database.db.query("test.entry", insert, [tenant]);
    const keys = createKeyDerivation(secrets)("audit");
    const log = { info() {}, error() {} };
    await createAuditSeal({ database: database.db, keys, clock: { now: () => 0 }, log }).sealNewEntries();
    expect(await check()).toMatchObject({ status: "pass", message: "all entries match their checkpoints" });
    await database.owner.query("test.off", "alter table audit_log disable trigger all");
    await database.owner.query("test.cut", "delete from audit_log where entry = 3");
    expect(await check()).toMatchObject({ status: "fail", message: `entry missing (tenant ${tenant}, entry 3)` });
  });

  it("is skipped if the database is not reachable", async () => {
    const found = await check("postgres://gesso@127.0.0.1:1/gesso");
    expect([found.status, found.message]).toEqual(["skip", expect.stringContaining("audit log not readable: ")]);
  });
});
