// Runs that are accepted in one statement: the limits, keys and references of each hold as if it had been alone.
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { listBudgets, TENANT_BUDGET_HOLDER } from "../money/budgets.ts";
import { findLedgerViolations } from "../money/ledger-check.ts";
import { insertRun, type NewRun } from "./insert-run.ts";
import { findRun } from "./runs.ts";

let database: TestDatabase;
let tenant: string;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());
beforeEach(async () => {
  tenant = v7();
  await database.db.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 't')", [tenant]);
});

const newRun = (more: Partial<NewRun> = {}): NewRun => {
  const run_id = v7();
  return {
    ...{ run_id, tenant_id: tenant, user_id: "u", operation: "images.generate", run_type: "image-generation" },
    ...{ inputs: { prompt: run_id }, plan: [], metadata: {}, warnings: [], root_run_id: run_id, depth: 1, lane: "p" },
    ...{ deadlineSeconds: 60, event_id: v7(), estimate: 40_000 },
    ...more,
  };
};
/** Accepts all at once, through row-level security as the API does. */
const acceptAll = (runs: NewRun[]) =>
  Promise.all(
    runs.map((run) =>
      insertRun(database.db.forTenant(tenant), run).then(
        (row) => (row ? "accepted" : "key taken"),
        (thrown) => thrown.code as string,
      ),
    ),
  );
const count = (outcomes: string[], outcome: string) => outcomes.filter((each) => each === outcome).length;
const countTransactions = async (runs: NewRun[]) => {
  const [row] = await database.db.query<{ transactions: number }>(
    "test.transactions",
    "select count(distinct xmin::text)::int as transactions from runs where run_id = any($1)",
    [runs.map(({ run_id }) => run_id)],
  );
  return row!.transactions;
};

it("runs that are accepted together are inserted by one transaction, each with its own content", async () => {
  const source = newRun();
  await acceptAll([source]);
  const webhook_secret = {
    tenant_id: tenant,
    owner_id: v7(),
    secret_id: v7(),
    key_id: "k",
    sealed: Buffer.from([0, 255]),
  };
  const runs = [
    newRun({ references: [source.run_id], given_fields: ["prompt", "seed"] }),
    newRun({ webhook_url: "https://example.com", webhook_secret: { ...webhook_secret, retentionDays: 3 } }),
    newRun({ parent_run_id: source.run_id, root_run_id: source.run_id, depth: 2, model: "m", provider: "p" }),
  ];
  const rows = await Promise.all(runs.map((run) => insertRun(database.db.forTenant(tenant), run)));
  expect(await countTransactions(runs)).toBe(1);
  for (const [index, row] of rows.entries()) {
    expect(row).toMatchObject({ run_id: runs[index]!.run_id, inputs: runs[index]!.inputs });
    expect(row).toEqual(await findRun(database.db, tenant, runs[index]!.run_id));
  }
  const secrets = await database.db.query<{ owner_id: string; sealed: Buffer }>(
    "test.secrets",
    "select owner_id, sealed from webhook_secrets where tenant_id = $1",
    [tenant],
  );
  expect(secrets).toEqual([{ owner_id: runs[1]!.run_id, sealed: webhook_secret.sealed }]);
  const references = await database.db.query(
    "test.references",
    "select run_id, source_run_id from run_references where source_run_id = $1",
    [source.run_id],
  );
  expect(references).toEqual([{ run_id: runs[0]!.run_id, source_run_id: source.run_id }]);
});

it("a budget with room for some of the runs accepts exactly those", async () => {
  await database.db.query("test.limits", "update tenants set limits = $2 where tenant_id = $1", [
    tenant,
    { spend_per_day: 0.1 },
  ]);
  const outcomes = await acceptAll([...Array.from({ length: 6 }, () => newRun()), newRun({ estimate: 0 })]);
  expect(outcomes.at(-1)).toBe("accepted");
  expect([count(outcomes, "accepted"), count(outcomes, "spend_limit_reached")]).toEqual([3, 4]);
  const [budget] = await listBudgets(database.db, tenant, {});
  expect(budget).toMatchObject({ holder_id: TENANT_BUDGET_HOLDER, day_used: 80_000, day_held: 80_000 });
  expect((await findLedgerViolations(database.url)).filter(({ violations }) => violations > 0)).toEqual([]);
});

it("a limit of open runs with room for some of the runs accepts exactly those", async () => {
  const outcomes = await acceptAll(Array.from({ length: 8 }, () => newRun({ openRunLimits: { tenant: 5 } })));
  expect([count(outcomes, "accepted"), count(outcomes, "concurrency_limit_reached")]).toEqual([5, 3]);
});

it("a key that an earlier run holds refuses its own run only", async () => {
  const idempotency = (key: string) => ({ key, fingerprint: Buffer.from(key), caller_id: tenant });
  await acceptAll([newRun({ idempotency: idempotency("b") })]);
  const runs = ["c", "b", "a"].map((key) => newRun({ idempotency: idempotency(key) }));
  expect(await acceptAll([...runs, newRun()])).toEqual(["accepted", "key taken", "accepted", "accepted"]);
  expect(await countTransactions(runs)).toBe(1);
});

it("a run that PostgreSQL refuses fails alone", async () => {
  const refused = newRun({ inputs: { prompt: "\u0000" } });
  const outcomes = await acceptAll([newRun(), refused, newRun()]);
  expect([outcomes[0], outcomes[2]]).toEqual(["accepted", "accepted"]);
  expect(await findRun(database.db, tenant, refused.run_id)).toBeUndefined();
});

it("runs of different tenants are never in one statement", async () => {
  const other = v7();
  await database.db.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 't')", [other]);
  const runs = [newRun(), newRun({ tenant_id: other })];
  await Promise.all(runs.map((run) => insertRun(database.db, run)));
  expect(await countTransactions(runs)).toBe(2);
});
