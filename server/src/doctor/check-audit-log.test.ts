// The audit check on a real database: complete, cut at its end and unreachable.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { createAuditSeal } from "../db/access/audit-seal.ts";
import { createKeyDerivation } from "../db/access/derive-keys.ts";
import { checkAuditLog } from "./check-audit-log.ts";

const secrets = { GESSO_SECRET: "a secret that is long enough to be one", GESSO_ACCEPTED_SECRETS: [] };
let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

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
