import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../test/support/database-clock.ts";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { acquireLeases, countLeaseHolders, releaseLeases } from "./leases.ts";
import { claimOutboxItems, deleteOutboxItem } from "./runs/outbox.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const names = Array.from({ length: 16 }, (_, index) => `dispatch/${index}`);

describe("leases", () => {
  it("belong to one holder at a time, also with concurrent requests", async () => {
    const holders = Array.from({ length: 12 }, (_, index) => `holder-${index}`);
    const got = await Promise.all(holders.map((holder) => acquireLeases(database.db, holder, names, 5)));
    expect(got.flat().sort()).toEqual([...names].sort());
  });

  it("are renewed by their holder and refused to others until they run out", async () => {
    const own = await startTestDatabase();
    await installDatabaseClock(own);
    const clock = createManualClock();
    const db = connectOnClock(own, clock);
    const take = async (holder: string) => (await acquireLeases(db, holder, ["duty/a"], 5)).length === 1;
    expect([await take("first"), await take("second")]).toEqual([true, false]);
    await clock.advance(4000);
    expect([await take("first"), await take("second")]).toEqual([true, false]);
    await clock.advance(5000);
    expect([await countLeaseHolders(db, "duty/"), await take("second")]).toEqual([0, false]);
    await clock.advance(1);
    expect([await take("second"), await take("first")]).toEqual([true, false]);
    expect(await countLeaseHolders(db, "duty/")).toBe(1);
    await db.close();
    await own.stop();
  });

  it("are free at once when their holder leaves", async () => {
    await acquireLeases(database.db, "leaving", ["duty/b"], 60);
    await releaseLeases(database.db, "leaving");
    expect(await acquireLeases(database.db, "next", ["duty/b"], 5)).toEqual(["duty/b"]);
  });
});

describe("the outbox", () => {
  it("hands each item to one taker and again only later, until it is dropped", async () => {
    const ids = Array.from({ length: 40 }, () => crypto.randomUUID());
    await database.db.query(
      "test.outbox",
      "insert into outbox (outbox_id, kind, payload) select id, 'delete_files', '{}' from unnest($1::uuid[]) as id",
      [ids],
    );
    const claim = (limit: number) => claimOutboxItems(database.db, { exceptCancelsAt: [] }, limit);
    const taken = await Promise.all(Array.from({ length: 8 }, () => claim(10)));
    const seen = taken.flat().map((item) => item.outbox_id);
    expect(seen).toHaveLength(new Set(seen).size);
    expect(await claim(100)).toHaveLength(40 - seen.length);
    for (const id of ids) await deleteOutboxItem(database.db, id);
    await database.db.query("test.due", "update outbox set due_at = now()");
    expect(await claim(100)).toEqual([]);
  });
});
