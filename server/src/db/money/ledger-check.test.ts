// The ledger check on a ledger that is too large for one statement.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { findLedgerViolations } from "./ledger-check.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const TENANT = v7();
const RUNS = 30_000;

const query = (name: string, text: string, values: unknown[] = []) =>
  database.owner.query(`test.${name}`, text, values);

/** `RUNS` ended runs of the last days with their transfers, a tenant with a balance, and its statistics. */
async function insertLedger(): Promise<void> {
  await query(
    "ids",
    `create table test_ids as select (left(uuid_floor(now() - make_interval(secs => n))::text, 15)
       || substr(gen_random_uuid()::text, 16))::uuid as id from generate_series(1, ${RUNS}) as n`,
  );
  await query(
    "runs",
    `insert into runs (run_id, tenant_id, user_id, operation, run_type, status, progress, root_run_id, inputs, plan,
       result, cost, finished_at)
     select id, $1, 'u', 'images.generate', 'image-generation', 'completed', 1, id, '{}', '[]', '{"outputs": []}',
       '{"amount": 0.04, "currency": "USD"}', now() from test_ids`,
    [TENANT],
  );
  await query(
    "transfers",
    `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
     select id, kind, $1, from_account, to_account, 40000 from test_ids,
       (values ('reserve', 'available', 'reserved'), ('settle', 'reserved', 'spent'))
         as moves (kind, from_account, to_account)`,
    [TENANT],
  );
  await query(
    "topup",
    `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
     values ($2, 'topup', $1, 'outside', 'available', 40000::bigint * ${RUNS} + 7)`,
    [TENANT, v7()],
  );
  await query("budget", "insert into budgets (tenant_id, is_prepaid, available) values ($1, true, 7)", [TENANT]);
  await query("analyze_runs", "analyze runs");
  await query("analyze_transfers", "analyze transfers");
}

/** How often the violations of a piece are counted. */
async function countStatements<T>(check: (url: string) => Promise<T>): Promise<{ result: T; statements: number }> {
  const url = new URL(database.url);
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  let statements = 0;
  proxy.onRequest((data) => {
    statements += data.toString("latin1").split("ledger_check.count_violations").length - 1;
  });
  try {
    return { result: await check(url.href), statements };
  } finally {
    await proxy.close();
  }
}

describe("the check of a large ledger", () => {
  it("reads it in pieces, and finds the violations of every piece", async () => {
    await insertLedger();
    const options = { pieceRows: RUNS / 50 };
    const { result: consistent, statements } = await countStatements((url) => findLedgerViolations(url, options));
    expect(consistent.filter(({ violations }) => violations > 0)).toEqual([]);
    // Each run has two transfers, so a piece has half as many runs as rows.
    expect(statements).toBeGreaterThanOrEqual(100);

    const tampered = (await query("ids_to_tamper", "select id from test_ids order by id")) as { id: string }[];
    for (const index of [0, RUNS / 2, RUNS - 1]) {
      await query(
        "release",
        `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
         values ($1, 'release', $2, 'reserved', 'available', 1)`,
        [tampered[index]!.id, TENANT],
      );
    }
    const found = await findLedgerViolations(database.url, options);
    expect(found.filter(({ violations }) => violations > 0)).toEqual([
      { invariant: "the reservation of an ended run was settled or released in full", violations: 3 },
      { invariant: "every balance is the sum of its entries", violations: 1 },
    ]);
  });
});
