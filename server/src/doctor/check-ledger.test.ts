// The doctor's look at books in a real database: whole, tampered with, and out of reach.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { checkLedger } from "./check-ledger.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
}, 60_000);
afterAll(() => database?.stop());

const look = (url = database.url) => checkLedger({ DATABASE_URL: url, DATABASE_POOL: 2 });

describe("the books", () => {
  it("that balance are told so, and money that nobody holds is found", async () => {
    expect(await look()).toEqual({ name: "ledger", status: "pass", message: "balance to the last unit" });
    await database.owner.query(
      "test.tamper",
      `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
       values (uuidv7(), 'reserve', $1, 'credit', 'reserved', 5)`,
      [randomUUID()],
    );
    const found = await look();
    expect([found.status, found.message]).toEqual(["fail", "not so 1 times: only open runs hold money"]);
    expect(found.fix).toContain("change nothing by hand");
  });

  it("that cannot be read are not called broken", async () => {
    const found = await look("postgres://gesso@127.0.0.1:1/gesso");
    expect([found.status, found.message]).toEqual(["skip", expect.stringContaining("cannot be read: ")]);
  });
});
