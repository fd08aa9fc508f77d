// The ledger on a real PostgreSQL: what is reserved, charged and released, under races, and what the ledger
// reports afterwards.
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { endRun } from "../runs/end-runs.ts";
import { insertRun, type NewRun } from "../runs/insert-run.ts";
import { requestCancellation } from "../runs/open-runs.ts";
import { startClaimedRun } from "../runs/start-run.ts";
import { insertTokenBudget, listBudgets, TENANT_BUDGET_HOLDER } from "./budgets.ts";
import { creditBalance } from "./ledger.ts";
import { findLedgerViolations } from "./ledger-check.ts";

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
    ...{ inputs: {}, plan: [], metadata: {}, warnings: [], root_run_id: run_id, depth: 1, lane: "p" },
    ...{ deadlineSeconds: 60, event_id: v7(), estimate: 40_000 },
    ...more,
  };
};
const error = { message: "m", code: "provider_error" as const, details: {} };
const completed = (cost: number | null) => ({
  ...{ status: "completed" as const, result: { outputs: [] }, provider: "p", cost, warnings: [] },
});

const accept = async (more: Partial<NewRun> = {}) => {
  const run = newRun(more);
  await insertRun(database.db, run);
  return { run_id: run.run_id, tenant_id: tenant, epoch: 0 };
};
const begin = async (more: Partial<NewRun> = {}) => {
  const claim = await accept(more);
  await startClaimedRun(database.db, claim, v7());
  return claim;
};
const operator = { tenant_id: "00000000-0000-7000-8000-000000000001", user_id: "operator", key_id: null };
const topUp = (amount: number, more: object = {}) =>
  creditBalance(database.db, operator, { tenant_id: tenant, amount, is_prepaid: true, transfer_id: v7(), ...more });
const limitTenant = (limits: object) =>
  database.db.query("test.limits", "update tenants set limits = $2 where tenant_id = $1", [tenant, limits]);

const transfersOf = (runId: string) =>
  database.db
    .query<{ said: string }>(
      "test.transfers",
      `select concat_ws(' ', kind, from_account, to_account, amount) as said from transfers where cause_id = $1
       order by array_position(array['reserve', 'settle', 'release', 'waste'], kind)`,
      [runId],
    )
    .then((rows) => rows.map(({ said: description }) => description));
const costOf = async (runId: string) => {
  const [row] = await database.db.query<{ cost: unknown }>("test.cost", "select cost from runs where run_id = $1", [
    runId,
  ]);
  return row!.cost;
};
const budget = async (spender = {}) => (await listBudgets(database.db, tenant, spender))[0]!;
const expectLedgerConsistent = async () =>
  expect((await findLedgerViolations(database.url)).filter(({ violations }) => violations > 0)).toEqual([]);
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "accepted",
    (thrown) => [thrown.code, thrown.details.limit, thrown.details.of].filter(Boolean).join(" "),
  );

describe("a run", () => {
  it("holds its estimate, is charged what it cost, and gives the rest back", async () => {
    const claim = await begin();
    expect(await transfersOf(claim.run_id)).toEqual(["reserve credit reserved 40000"]);
    await endRun(database.db, claim, completed(30_000), v7());
    expect(await transfersOf(claim.run_id)).toEqual([
      ...["reserve credit reserved 40000", "settle reserved spent 30000", "release reserved credit 10000"],
    ]);
    expect(await costOf(claim.run_id)).toEqual({ amount: 0.03, currency: "USD" });
    await expectLedgerConsistent();
  });

  it("is never charged more than it held: what is above is the installation's loss", async () => {
    const claim = await begin();
    await endRun(database.db, claim, completed(55_000), v7());
    expect(await transfersOf(claim.run_id)).toEqual([
      ...["reserve credit reserved 40000", "settle reserved spent 40000", "waste outside waste 15000"],
    ]);
    expect(await costOf(claim.run_id)).toEqual({ amount: 0.04, currency: "USD" });
  });

  it("whose price is not known holds nothing, and is charged what it turns out to cost", async () => {
    const [known, unknown] = [await begin({ estimate: null }), await begin({ estimate: null })];
    await endRun(database.db, known, completed(7), v7());
    await endRun(database.db, unknown, completed(null), v7());
    expect(await transfersOf(known.run_id)).toEqual(["settle credit spent 7"]);
    expect(await costOf(known.run_id)).toEqual({ amount: 0.000007, currency: "USD" });
    expect([await transfersOf(unknown.run_id), await costOf(unknown.run_id)]).toEqual([[], null]);
    await expectLedgerConsistent();
  });

  it("that costs nothing moves nothing, and says that it cost nothing", async () => {
    const claim = await begin({ estimate: 0 });
    await endRun(database.db, claim, completed(0), v7());
    expect([await transfersOf(claim.run_id), await costOf(claim.run_id)]).toEqual([[], { amount: 0, currency: "USD" }]);
  });

  it.each(["failed", "canceled"] as const)("that %s gives everything back", async (status) => {
    const claim = await begin();
    await endRun(database.db, claim, { status, error }, v7());
    expect((await transfersOf(claim.run_id)).slice(1)).toEqual(["release reserved credit 40000"]);
    expect(await costOf(claim.run_id)).toBeNull();
    await expectLedgerConsistent();
  });

  it("that is canceled before it began gives everything back", async () => {
    const { run_id } = await accept();
    expect((await requestCancellation(database.db, tenant, run_id, error, v7())).ended).toBe(true);
    expect((await transfersOf(run_id)).slice(1)).toEqual(["release reserved credit 40000"]);
    await expectLedgerConsistent();
  });
});

describe("a balance", () => {
  it("for ten lets exactly ten of a thousand runs in that come at once", async () => {
    await topUp(400_000);
    const outcomes = await Promise.all(Array.from({ length: 1000 }, () => codeOf(insertRun(database.db, newRun()))));
    expect(outcomes.filter((each) => each === "accepted")).toHaveLength(10);
    expect(outcomes.filter((each) => each === "insufficient_credits balance tenant")).toHaveLength(990);
    expect(await budget()).toMatchObject({ available: 0 });
    const [row] = await database.db.query<{ runs: number; open: number }>(
      "test.count",
      `select count(*)::int as runs, (select count(*)::int from open_runs where tenant_id = $1) as open
       from runs where tenant_id = $1`,
      [tenant],
    );
    expect(row).toEqual({ runs: 10, open: 10 });
    await expectLedgerConsistent();
  });

  it("gets back what runs did not cost, to the last unit", async () => {
    await topUp(100_000);
    const [first, second] = [await begin(), await begin()];
    expect((await budget()).available).toBe(20_000);
    expect(await codeOf(insertRun(database.db, newRun()))).toBe("insufficient_credits balance tenant");
    await endRun(database.db, first, completed(39_999), v7());
    await endRun(database.db, second, { status: "failed", error }, v7());
    expect((await budget()).available).toBe(60_001);
    await expectLedgerConsistent();
  });

  it("is topped up once for each key, can be taken out, and not below nothing", async () => {
    const idempotency = { key: v7(), fingerprint: Buffer.from("f"), caller_id: v7() };
    expect(await topUp(50, { idempotency })).toMatchObject({ is_applied: true, available: 50, is_prepaid: true });
    expect(await topUp(50, { idempotency })).toMatchObject({ is_applied: false, available: 50 });
    expect(await topUp(-60)).toMatchObject({ is_applied: false, available: 50 });
    expect(await topUp(-20)).toMatchObject({ is_applied: true, available: 30 });
    expect(await topUp(0, { is_prepaid: false })).toMatchObject({ is_applied: true, is_prepaid: false, available: 30 });
    expect(
      await creditBalance(database.db, operator, { tenant_id: v7(), amount: 1, is_prepaid: true, transfer_id: v7() }),
    ).toBeUndefined();
    await expectLedgerConsistent();
  });

  it("is not touched by runs from before the tenant paid in advance", async () => {
    const before = await begin();
    await topUp(1_000_000);
    await endRun(database.db, before, { status: "failed", error }, v7());
    expect((await budget()).available).toBe(1_000_000);
    const during = await begin();
    await topUp(0, { is_prepaid: false });
    await endRun(database.db, during, { status: "failed", error }, v7());
    await topUp(0);
    expect((await budget()).available).toBe(1_000_000);
    await expectLedgerConsistent();
  });

  it("is not spent by a second request with the same key, however many come at once", async () => {
    await topUp(1_000_000);
    const idempotency = { key: "once", fingerprint: Buffer.from("f"), caller_id: v7() };
    const rows = await Promise.all(Array.from({ length: 1000 }, () => insertRun(database.db, newRun({ idempotency }))));
    expect(rows.filter(Boolean)).toHaveLength(1);
    expect((await budget()).available).toBe(960_000);
    await expectLedgerConsistent();
  });

  it("is refused to be wrong, even by hand", async () => {
    await topUp(10);
    const byHand = (text: string) => database.db.query(`test.${text.length}`, text, [tenant]);
    await expect(byHand("update budgets set available = -1 where tenant_id = $1")).rejects.toMatchObject({
      code: "23514",
    });
    await expect(byHand("delete from transfers where tenant_id = $1")).rejects.toMatchObject({ code: "23514" });
    await byHand("update budgets set available = 11 where tenant_id = $1");
    const found = (await findLedgerViolations(database.url)).filter(({ violations }) => violations > 0);
    expect(found).toEqual([{ invariant: "every balance is the sum of its entries", violations: 1 }]);
    await byHand("update budgets set available = 10 where tenant_id = $1 ");
  });
});

describe("a spending limit", () => {
  it("counts what runs of the day have cost and hold, also those from before it was set", async () => {
    const [ended] = [await begin(), await begin()];
    await endRun(database.db, ended, completed(30_000), v7());
    await limitTenant({ spend_per_day: 0.15 });
    expect(await budget()).toMatchObject({ day_limit: 150_000, day_used: 70_000, month_used: 70_000 });
    const fits = await begin();
    expect(await codeOf(insertRun(database.db, newRun({ estimate: 40_001 })))).toBe("spend_limit_reached day tenant");
    await endRun(database.db, fits, completed(10_000), v7());
    expect(await budget()).toMatchObject({ day_used: 80_000, month_used: 80_000 });
    await limitTenant({});
    expect(await codeOf(insertRun(database.db, newRun({ estimate: 9e9 })))).toBe("accepted");
  });

  it("for an hour counts what runs of the hour have cost and hold, and begins anew with the next hour", async () => {
    const ended = await begin();
    await endRun(database.db, ended, completed(30_000), v7());
    await limitTenant({ spend_per_hour: 0.1 });
    expect(await budget()).toMatchObject({ hour_limit: 100_000, hour_used: 30_000, day_limit: null });
    await accept();
    expect(await codeOf(insertRun(database.db, newRun()))).toBe("spend_limit_reached hour tenant");
    expect(await listBudgets(database.db, tenant, {})).toMatchObject([{ hour_used: 70_000, hour_held: 40_000 }]);
    await database.db.query("test.hour", "update budgets set hour = hour - interval '1 hour' where tenant_id = $1", [
      tenant,
    ]);
    expect(await listBudgets(database.db, tenant, {})).toMatchObject([{ hour_used: 0 }]);
    const next = await begin();
    await endRun(database.db, next, completed(10_000), v7());
    expect(await budget()).toMatchObject({ hour_used: 10_000, day_used: 80_000 });
    expect(await codeOf(insertRun(database.db, newRun({ estimate: 90_000 })))).toBe("accepted");
    await limitTenant({});
    expect(await codeOf(insertRun(database.db, newRun({ estimate: 9e9 })))).toBe("accepted");
  });

  it("begins anew with the day, and with the month", async () => {
    await limitTenant({ spend_per_day: 0.04, spend_per_month: 0.08 });
    const yesterday = await begin();
    expect(await codeOf(insertRun(database.db, newRun()))).toBe("spend_limit_reached day tenant");
    const move = (days: string) =>
      database.db.query(
        `test.${days}`,
        `update budgets set day = day - 1, month = month - ${days} where tenant_id = $1`,
        [tenant],
      );
    await move("0");
    await database.owner.query("test.back", "alter table runs disable trigger enforce_run_state_machine");
    await database.db.query("test.older", "update runs set created_at = now() - interval '1 day' where run_id = $1", [
      yesterday.run_id,
    ]);
    await database.owner.query("test.on", "alter table runs enable trigger enforce_run_state_machine");
    await accept();
    await endRun(database.db, yesterday, { status: "failed", error }, v7());
    expect((await budget()).day_used).toBe(40_000);
    await move("40");
    expect(await codeOf(insertRun(database.db, newRun()))).toBe("accepted");
  });

  it("of a key holds beside the tenant's, and neither is taken from where the other refuses", async () => {
    const key_id = v7();
    await database.db.query(
      "test.key",
      `with member as (insert into members (tenant_id, user_id, role) values ($1, 'u', 'owner'))
       insert into budgets (tenant_id, holder_id) values ($1, $2)`,
      [tenant, key_id],
    );
    await database.db.query(
      "test.apiKey",
      `insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits)
       values ($2, $1, 'u', 'k', $3, 'hint', '{*}', '{"spend_per_month": 0.05}')`,
      [tenant, key_id, Buffer.from(key_id)],
    );
    await limitTenant({ spend_per_day: 0.1 });
    await accept({ key_id });
    expect(await codeOf(insertRun(database.db, newRun({ key_id })))).toBe("spend_limit_reached month key");
    expect((await budget({ key_id })).day_used).toBe(40_000);
    await accept();
    expect(await codeOf(insertRun(database.db, newRun({ key_id, estimate: 30_000 })))).toBe(
      "spend_limit_reached day tenant",
    );
    const rows = await listBudgets(database.db, tenant, { key_id });
    expect(rows.map(({ holder_id, month_used }) => [holder_id, month_used])).toEqual([
      ...[
        [TENANT_BUDGET_HOLDER, 80_000],
        [key_id, 40_000],
      ],
    ]);
  });

  it("shows what open runs hold apart from what ended runs cost, and lists other keys only on request", async () => {
    const key_id = v7();
    await database.db.query("test.member", "insert into members (tenant_id, user_id, role) values ($1, 'u', 'owner')", [
      tenant,
    ]);
    await database.db.query(
      "test.limitedKey",
      `insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits)
       values ($2, $1, 'u', 'web', $3, 'hint', '{*}', '{"spend_per_month": 1}')`,
      [tenant, key_id, Buffer.from(key_id)],
    );
    await limitTenant({ spend_per_month: 2 });
    await endRun(database.db, await begin({ key_id }), completed(30_000), v7());
    await accept({ key_id });
    await accept();
    const seen = async (withKeys: boolean) =>
      (await listBudgets(database.db, tenant, {}, { withKeys })).map((row) => [
        ...[row.key_name, row.month_used, row.month_held, row.day_held],
      ]);
    const ofTenant = [null, 110_000, 80_000, 80_000];
    expect(await seen(false)).toEqual([ofTenant]);
    expect(await seen(true)).toEqual([ofTenant, ["web", 70_000, 40_000, 40_000]]);
    await database.db.query("test.revoke", "update api_keys set revoked_at = now() where key_id = $1", [key_id]);
    expect(await seen(true)).toEqual([ofTenant]);
  });

  it("of a token holds for as long as it lives", async () => {
    const token = { token_id: v7(), total: 80_000, ends_at: new Date(Date.now() + 1000) };
    await insertTokenBudget(database.db, tenant, token);
    await insertTokenBudget(database.db, tenant, token);
    const { token_id } = token;
    const first = await begin({ token_id });
    await accept({ token_id });
    expect(await codeOf(insertRun(database.db, newRun({ token_id })))).toBe("spend_limit_reached total token");
    await endRun(database.db, first, { status: "failed", error }, v7());
    expect(await codeOf(insertRun(database.db, newRun({ token_id })))).toBe("accepted");
  });

  it("refuses what has no known price, and lets in what is free", async () => {
    await limitTenant({ spend_per_day: 0 });
    expect(await codeOf(insertRun(database.db, newRun({ estimate: null })))).toBe("price_unknown tenant");
    expect(await codeOf(insertRun(database.db, newRun({ estimate: 0 })))).toBe("accepted");
  });

  it("of ten lets exactly ten of many in that come at once with many keys", async () => {
    await limitTenant({ spend_per_month: 0.4 });
    const keys = Array.from({ length: 8 }, () => v7());
    for (const key_id of keys)
      await insertTokenBudget(database.db, tenant, { token_id: key_id, total: 1e9, ends_at: null });
    const posts = Array.from({ length: 400 }, (_, n) => insertRun(database.db, newRun({ key_id: keys[n % 8]! })));
    const outcomes = await Promise.all(posts.map(codeOf));
    expect(outcomes.filter((each) => each === "accepted")).toHaveLength(10);
    expect(new Set(outcomes)).toEqual(new Set(["accepted", "spend_limit_reached month tenant"]));
  });
});

describe("5,000 races", () => {
  it("of a cancel with a completion end as one of the two, each with its money", async () => {
    await topUp(5000 * 40_000);
    const outcomes = { completed: 0, canceled: 0, asked: 0 };
    const race = async (n: number) => {
      const claim = await accept();
      const begun = startClaimedRun(database.db, claim, v7());
      if (n % 2 === 0) await begun;
      const [ended, canceled] = await Promise.all([
        begun.then((row) => (row ? endRun(database.db, claim, completed(40_000), v7()) : false)),
        requestCancellation(database.db, tenant, claim.run_id, error, v7()),
      ]);
      expect(ended).not.toBe(canceled.ended);
      outcomes[ended ? "completed" : "canceled"]++;
      if (canceled.is_requested) outcomes.asked++;
    };
    for (let n = 0; n < 5000; n += 50) await Promise.all(Array.from({ length: 50 }, (_, at) => race(n + at)));
    const [row] = await database.db.query<{ mixed: number; charged: number }>(
      "test.mixed",
      `select count(*) filter (where (status, coalesce(amount, 0), result is not null) not in
           (('completed', 40000, true), ('canceled', 0, false)))::int as mixed,
         count(amount)::int as charged
       from runs left join transfers on cause_id = run_id and kind = 'settle' where runs.tenant_id = $1`,
      [tenant],
    );
    expect(row).toEqual({ mixed: 0, charged: outcomes.completed });
    expect(outcomes.completed + outcomes.canceled).toBe(5000);
    expect(Math.min(outcomes.completed, outcomes.canceled, outcomes.asked)).toBeGreaterThan(0);
    expect((await budget()).available).toBe(outcomes.canceled * 40_000);
    await expectLedgerConsistent();
  });
});
