// The ledger check on a real database: consistent, tampered with and unreachable.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { checkLedger } from "./check-ledger.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const check = (url = database.url) => checkLedger({ DATABASE_URL: url });

describe("the ledger check", () => {
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
