// Spending limits of customers, end users and tags: what counts for them, that parallel runs never exceed them, and
// their events.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSeededRandom } from "../../../test/support/seeded-random.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { endRun } from "../runs/end-runs.ts";
import { insertRun } from "../runs/insert-run.ts";
import {
  deleteAttributedBudget,
  findAttributedBudget,
  insertBudgetAlerts,
  listAttributedBudgets,
  putAttributedBudget,
} from "./attributed-budgets.ts";
import { type AttributedCost, type AttributionKind, attributedHolderId } from "./attributed-holders.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

const CENT = 10_000;
const actorOf = (tenant_id: string) => ({ tenant_id, user_id: "ada", key_id: null });
const dbOf = (tenant: string) => database.db.forTenant(tenant);

const setLimit = (
  tenant: string,
  [kind, value]: [AttributionKind, string],
  cents: { hour?: number; day?: number; month?: number },
  alert_at: number[] = [],
) =>
  putAttributedBudget(dbOf(tenant), actorOf(tenant), {
    ...{ kind, value, holder_id: attributedHolderId(kind, value), alert_at },
    hour_limit: cents.hour === undefined ? null : cents.hour * CENT,
    day_limit: cents.day === undefined ? null : cents.day * CENT,
    month_limit: cents.month === undefined ? null : cents.month * CENT,
  });

async function acceptRun(tenant: string, of: AttributedCost, cents: number | null): Promise<string> {
  const run_id = v7();
  await insertRun(dbOf(tenant), {
    ...{ run_id, root_run_id: run_id, tenant_id: tenant, user_id: "ada", event_id: v7(), depth: 1, lane: "fake" },
    ...{ operation: "images.generate", run_type: "image-generation", deadlineSeconds: 600, key_id: null, ...of },
    ...{ inputs: {}, plan: [], metadata: {}, warnings: [], estimate: cents === null ? null : cents * CENT },
  });
  return run_id;
}
const tryAccept = (tenant: string, of: AttributedCost, cents: number | null) =>
  acceptRun(tenant, of, cents).catch((thrown) => ({ code: thrown.code, details: thrown.details }));

async function completeRun(runId: string, cents: number): Promise<void> {
  await database.db.query(
    "test.start",
    `with open as (update open_runs set started_at = now(), dispatched_at = now() where run_id = $1)
     update runs set status = 'processing', started_at = now() where run_id = $1`,
    [runId],
  );
  const outcome = { result: { outputs: [] }, cost: cents * CENT, provider: "p", warnings: [] };
  await endRun(database.db, { run_id: runId }, { status: "completed", ...outcome }, v7());
}

const usedOf = async (tenant: string, kind: AttributionKind, value: string) =>
  (await findAttributedBudget(dbOf(tenant), tenant, attributedHolderId(kind, value)))?.day_used;

describe("a limit", () => {
  it("of a customer counts its runs and no others, and says whose it is when it refuses one", async () => {
    const tenant = v7();
    await setLimit(tenant, ["customer", "acme"], { day: 10 });
    await acceptRun(tenant, { customer: "acme", end_user: "u1" }, 6);
    await acceptRun(tenant, { customer: "other" }, 6);
    await acceptRun(tenant, {}, 6);
    expect(await tryAccept(tenant, { customer: "acme", end_user: "u2" }, 6)).toEqual({
      code: "spend_limit_reached",
      details: { limit: "day", of: "customer", value: "acme", estimate: 0.06 },
    });
    expect(await usedOf(tenant, "customer", "acme")).toBe(6 * CENT);
  });

  it("of one tag of several refuses the run, and none of the others counts it", async () => {
    const tenant = v7();
    await setLimit(tenant, ["tag", "a"], { month: 100 });
    await setLimit(tenant, ["tag", "b"], { hour: 5 });
    expect(await tryAccept(tenant, { cost_tags: ["a", "b", "c"] }, 6)).toMatchObject({
      details: { limit: "hour", of: "tag", value: "b" },
    });
    expect(await usedOf(tenant, "tag", "a")).toBe(0);
    await acceptRun(tenant, { cost_tags: ["a", "c"] }, 6);
    expect(await usedOf(tenant, "tag", "a")).toBe(6 * CENT);
  });

  it("refuses runs whose price is unknown", async () => {
    const tenant = v7();
    await setLimit(tenant, ["end_user", "*"], { day: 10 });
    expect(await tryAccept(tenant, { end_user: "u1" }, null)).toMatchObject({
      code: "price_unknown",
      details: { of: "end_user", value: "u1" },
    });
    await acceptRun(tenant, {}, null);
  });

  it("counts what was spent and reserved in this month before it was set", async () => {
    const tenant = v7();
    await completeRun(await acceptRun(tenant, { customer: "acme", cost_tags: ["a"] }, 5), 4);
    await acceptRun(tenant, { customer: "acme", cost_tags: ["a"] }, 3);
    await setLimit(tenant, ["customer", "acme"], { day: 10 });
    await setLimit(tenant, ["tag", "a"], { day: 10 });
    expect([await usedOf(tenant, "customer", "acme"), await usedOf(tenant, "tag", "a")]).toEqual([7 * CENT, 7 * CENT]);
  });

  it("counts what a run cost when it has ended", async () => {
    const tenant = v7();
    await setLimit(tenant, ["customer", "acme"], { day: 10 });
    await completeRun(await acceptRun(tenant, { customer: "acme" }, 9), 2);
    expect(await usedOf(tenant, "customer", "acme")).toBe(2 * CENT);
  });
});

describe("a limit for every end user", () => {
  it("is one for each, and a limit of its own replaces it", async () => {
    const tenant = v7();
    await setLimit(tenant, ["end_user", "*"], { day: 10 });
    await setLimit(tenant, ["end_user", "vip"], { day: 100 });
    await acceptRun(tenant, { end_user: "u1" }, 9);
    await acceptRun(tenant, { end_user: "u2" }, 9);
    await acceptRun(tenant, { end_user: "vip" }, 90);
    expect(await tryAccept(tenant, { end_user: "u1" }, 9)).toMatchObject({ details: { of: "end_user", value: "u1" } });
    const set = await listAttributedBudgets(dbOf(tenant), tenant, {}, 10);
    expect(set.map(({ of_value }) => of_value).sort()).toEqual(["*", "vip"]);
    const owner = { kind: "end_user" as const, value: "u1" };
    expect(await listAttributedBudgets(dbOf(tenant), tenant, { owner }, 10)).toMatchObject([
      { of_value: "u1", template_id: attributedHolderId("end_user", "*"), day_used: 9 * CENT },
    ]);
  });

  it("changes for all of them, and counts what was spent before when it is deleted and set again", async () => {
    const tenant = v7();
    const template = ["end_user", "*"] as [AttributionKind, string];
    await setLimit(tenant, template, { day: 10 });
    await acceptRun(tenant, { end_user: "u1" }, 9);
    await setLimit(tenant, template, { day: 20 });
    await acceptRun(tenant, { end_user: "u1" }, 9);
    expect(await deleteAttributedBudget(dbOf(tenant), actorOf(tenant), attributedHolderId(...template))).toBeDefined();
    expect(await usedOf(tenant, "end_user", "u1")).toBeUndefined();
    await acceptRun(tenant, { end_user: "u1" }, 1);
    await setLimit(tenant, template, { day: 20 });
    expect(await tryAccept(tenant, { end_user: "u1" }, 2)).toMatchObject({ code: "spend_limit_reached" });
    expect(await tryAccept(tenant, { end_user: "u1" }, 1)).toEqual(expect.any(String));
  });

  it("accepts runs of many end users in one statement, and refuses only those above their limit", async () => {
    const tenant = v7();
    await setLimit(tenant, ["end_user", "*"], { day: 10 });
    await acceptRun(tenant, { end_user: "full" }, 10);
    const users = [...Array.from({ length: 20 }, (_, number) => `u${number}`), "full"];
    const outcomes = await Promise.all(users.map((end_user) => tryAccept(tenant, { end_user }, 3)));
    expect(outcomes.map((outcome) => typeof outcome)).toEqual([...users.slice(1).map(() => "string"), "object"]);
    expect(await usedOf(tenant, "end_user", "u7")).toBe(3 * CENT);
  });

  it("is not exceeded by parallel runs", async () => {
    const tenant = v7();
    await setLimit(tenant, ["end_user", "*"], { day: 100 });
    const outcomes = await Promise.all(Array.from({ length: 64 }, () => tryAccept(tenant, { end_user: "u1" }, 3)));
    expect(outcomes.filter((outcome) => typeof outcome === "string")).toHaveLength(33);
    expect(await usedOf(tenant, "end_user", "u1")).toBe(99 * CENT);
  });

  it("cannot be deleted for one of them", async () => {
    const tenant = v7();
    await setLimit(tenant, ["customer", "*"], { day: 10 });
    await acceptRun(tenant, { customer: "acme" }, 1);
    const copy = attributedHolderId("customer", "acme");
    expect(await deleteAttributedBudget(dbOf(tenant), actorOf(tenant), copy)).toBeUndefined();
    expect(await usedOf(tenant, "customer", "acme")).toBe(CENT);
  });
});

it("runs with overlapping customers, end users and tags start and end at the same time, and everything adds up", async () => {
  const tenant = v7();
  const random = createSeededRandom(7);
  await setLimit(tenant, ["end_user", "*"], { month: 100_000 });
  await setLimit(tenant, ["customer", "*"], { month: 100_000 });
  for (const tag of ["a", "b", "c"]) await setLimit(tenant, ["tag", tag], { month: 100_000 });
  const spent = new Map<string, number>();
  const runOnce = async () => {
    const of = {
      customer: `c${random(3)}`,
      end_user: `u${random(4)}`,
      cost_tags: ["a", "b", "c"].filter(() => random(2) === 0),
    };
    const cost = random(5);
    await completeRun(await acceptRun(tenant, of, 5), cost);
    for (const holder of [
      `customer ${of.customer}`,
      `end_user ${of.end_user}`,
      ...of.cost_tags.map((tag) => `tag ${tag}`),
    ])
      spent.set(holder, (spent.get(holder) ?? 0) + cost * CENT);
  };
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      for (let count = 0; count < 12; count++) await runOnce();
    }),
  );
  for (const [holder, amount] of spent) {
    const [kind, value] = holder.split(" ") as [AttributionKind, string];
    expect([holder, await usedOf(tenant, kind, value)]).toEqual([holder, amount]);
  }
});

describe("the events of a limit", () => {
  const listAlerts = async (tenant: string) => {
    await insertBudgetAlerts(
      database.db,
      Array.from({ length: 20 }, () => v7()),
    );
    const events = await database.owner.query<{ type: string; data: { share: number; period: string } }>(
      "test.events",
      "select type, data from events where tenant_id = $1 and type like 'budget.%' order by data ->> 'period', data ->> 'share'",
      [tenant],
    );
    return events.map(({ type, data }) => `${type} ${data.period} ${data.share}`);
  };

  it("come once for each share and period", async () => {
    const tenant = v7();
    await setLimit(tenant, ["customer", "*"], { day: 10, month: 100 }, [0.5, 0.8, 1]);
    await acceptRun(tenant, { customer: "acme" }, 4);
    expect(await listAlerts(tenant)).toEqual([]);
    await acceptRun(tenant, { customer: "acme" }, 4);
    const warnings = ["budget.warning day 0.5", "budget.warning day 0.8"];
    expect(await listAlerts(tenant)).toEqual(warnings);
    expect(await listAlerts(tenant)).toEqual(warnings);
  });

  it("say that a limit is reached when it has refused a run, although some of it is left", async () => {
    const tenant = v7();
    await setLimit(tenant, ["end_user", "u1"], { day: 10 }, [1]);
    await acceptRun(tenant, { end_user: "u1" }, 9);
    expect(await listAlerts(tenant)).toEqual([]);
    for (let count = 0; count < 2; count++) await tryAccept(tenant, { end_user: "u1" }, 9);
    expect(await listAlerts(tenant)).toEqual(["budget.reached day 1"]);
    await tryAccept(tenant, { end_user: "u1" }, 9);
    expect(await listAlerts(tenant)).toEqual(["budget.reached day 1"]);
  });

  it("come again after the limit was changed", async () => {
    const tenant = v7();
    await setLimit(tenant, ["tag", "a"], { day: 10 }, [0.5]);
    await acceptRun(tenant, { cost_tags: ["a"] }, 8);
    expect(await listAlerts(tenant)).toEqual(["budget.warning day 0.5"]);
    await setLimit(tenant, ["tag", "a"], { day: 12 }, [0.5]);
    expect(await listAlerts(tenant)).toEqual(["budget.warning day 0.5", "budget.warning day 0.5"]);
  });
});
