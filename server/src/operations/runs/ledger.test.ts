// The ledger of one run as the API shows it: of a completed run, and of another tenant's run.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { RunLedger } from "../../contract/schemas/usage.ts";
import { reportRunLedger } from "./ledger.ts";

let database: TestDatabase;
const run = { run_id: v7(), tenant_id: v7() };
const attempt = `insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, state, price)
  values ($1, 0, $2, $3, 0, $4, $5, $6)`;
beforeAll(async () => {
  database = await startTestDatabase();
  await database.owner.query(
    "test.transfers",
    `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
     values ($1, 'reserve', $2, 'credit', 'reserved', 40000), ($1, 'settle', $2, 'reserved', 'spent', 30000),
       ($1, 'release', $2, 'reserved', 'credit', 10000), ($1, 'waste', $2, 'outside', 'waste', 1)`,
    [run.run_id, run.tenant_id],
  );
  await database.owner.query("test.first", attempt, [run.run_id, 1, "a", "fal", "unknown", null]);
  await database.owner.query("test.second", attempt, [run.run_id, 2, "b", "bfl", "succeeded", 30000]);
});
afterAll(() => database?.stop());

it("has what the run reserved, was charged and got back, what was wasted, and the price of each attempt", async () => {
  const { transfers, ...ledger } = RunLedger.parse(await reportRunLedger(database.db, run));
  expect(ledger).toEqual({
    ...{ run_id: run.run_id, currency: "USD", reserved: 0.04, charged: 0.03, released: 0.01, wasted: 0.000001 },
    attempts: [
      { job: 0, try: 1, provider: "fal", state: "unknown", price: null },
      { job: 0, try: 2, provider: "bfl", state: "succeeded", price: 0.03 },
    ],
  });
  expect(transfers.map(({ kind, amount }) => `${kind} ${amount}`)).toEqual([
    ...["reserve 0.04", "settle 0.03", "release 0.01", "waste 0.000001"],
  ]);
});

it("has no transfers of another tenant", async () => {
  const { transfers, charged } = await reportRunLedger(database.db, { ...run, tenant_id: v7() });
  expect([transfers, charged]).toEqual([[], 0]);
});
