import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { readUpgradeState, type UpgradeState } from "../db/migrations/upgrade-state.ts";
import { assessUpgrade } from "./check-upgrade.ts";

const STATE: UpgradeState = {
  ...{ current: 20, pending: [], longTransactions: [], openRuns: 3 },
  heldBack: { quarantined: 0, pauses: 0 },
};
const statusesOf = (state: Partial<UpgradeState>) =>
  Object.fromEntries(assessUpgrade({ ...STATE, ...state }).map(({ name, status }) => [name, status]));

describe("an upgrade", () => {
  it("passes with migrations that leave the running version working", () => {
    const pending = [
      { name: "0021_a.sql", kind: "expand" as const, lowestProgram: 0 },
      { name: "0022_b.sql", kind: "contract" as const, lowestProgram: 20 },
    ];
    expect(new Set(Object.values(statusesOf({ pending })))).toEqual(new Set(["pass"]));
  });

  it("fails if a migration removes what the running version uses, and names the version to take first", () => {
    const pending = [{ name: "0023_c.sql", kind: "contract" as const, lowestProgram: 21 }];
    expect(statusesOf({ pending }).rollback).toBe("fail");
    const { fix } = assessUpgrade({ ...STATE, pending }).find(({ name }) => name === "rollback")!;
    expect(fix).toBe("first upgrade to a version with migration 21");
  });

  it("warns of long transactions and of work that is held back", () => {
    const statuses = statusesOf({
      longTransactions: [{ pid: 7, seconds: 90 }],
      heldBack: { quarantined: 1, pauses: 0 },
    });
    expect([statuses.transactions, statuses["held back"]]).toEqual(["warn", "warn"]);
    expect(statusesOf({ heldBack: null })["held back"]).toBe("pass");
  });
});

describe("the state of a database", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await startTestDatabase();
  });
  afterAll(() => database?.stop());

  it("has nothing to apply at this version, and what is missing at the one before", async () => {
    expect(await readUpgradeState(database.url)).toMatchObject({ pending: [], openRuns: 0, longTransactions: [] });
    const [last] = await database.owner.query<{ name: string }>(
      "test.forget",
      `delete from schema_migrations where name = (select max(name) from schema_migrations) returning name`,
    );
    const [before] = await database.owner.query<{ number: number }>(
      "test.before",
      "select max(left(name, 4))::int as number from schema_migrations",
    );
    const { pending, current } = await readUpgradeState(database.url);
    expect(pending.map(({ name }) => name)).toEqual([last!.name]);
    expect(current).toBe(before!.number);
  });
});
