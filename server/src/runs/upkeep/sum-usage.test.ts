// Daily sums of usage are equal to the sums over the runs at every moment: while runs are accepted, end and are
// deleted, while the sums are built, and after they are built again.
import { v7 } from "uuid";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { insertEndedRuns } from "../../../test/support/ended-runs.ts";
import { createSeededRandom } from "../../../test/support/seeded-random.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createTestRuntime } from "../../../test/support/test-runtime.ts";
import type { UsageDimension } from "../../contract/schemas/usage.ts";
import { deleteOldEvents } from "../../db/event-log.ts";
import { sumUsage } from "../../db/money/usage.ts";
import { resetUsage } from "../../db/money/usage-sums.ts";
import { endRun } from "../../db/runs/end-runs.ts";
import { insertRun } from "../../db/runs/insert-run.ts";
import { insertUploadRun } from "../../db/runs/insert-upload.ts";
import { requestCancellation } from "../../db/runs/open-runs.ts";
import { tombstoneRun } from "../../db/runs/runs.ts";
import { sumUsageOfEndedRuns } from "./sum-usage.ts";

const EVENT_DAYS = 30;
const RANGE = { from: "2026-01-01", to: "2026-12-31", limit: 10_000 };
const ALL: UsageDimension[] = ["day", "key", "model", "operation"];

let database: TestDatabase;
beforeEach(async () => {
  await database?.stop();
  // The reader of events waits for open transactions of all databases of a server.
  database = await startTestDatabase({ hasOwnServer: true });
});
afterAll(() => database?.stop());

const turn = (size = { events: 3, olderRuns: 4 }, runtime = createTestRuntime()) =>
  sumUsageOfEndedRuns({ ...runtime, database: database.db, settings: { eventRetentionDays: EVENT_DAYS } }, size);
const sumAll = async () => {
  while (await turn({ events: 500, olderRuns: 500 }));
};

const resetSums = () =>
  Promise.all([resetUsage(database.db, "daily_usage"), resetUsage(database.db, "attributed_usage")]);

const FIGURES = `count(*)::int as runs, count(*) filter (where status = 'completed')::int as completed,
         count(*) filter (where status = 'failed')::int as failed,
         count(*) filter (where status = 'canceled')::int as canceled,
         coalesce(sum((cost ->> 'amount')::numeric), 0)::float as amount,
         count(*) filter (where status = 'completed' and cost is null)::int as unpriced`;
const ATTRIBUTED = {
  customer: "array_remove(array[customer], null)",
  end_user: "array_remove(array[end_user], null)",
  tag: "coalesce(cost_tags, '{}')",
};

async function compareAttributedUsage(tenant: string): Promise<void> {
  for (const [kind, values] of Object.entries(ATTRIBUTED)) {
    const found = await sumUsage(database.db.forTenant(tenant), tenant, {
      ...{ ...RANGE, by: [kind as UsageDimension, "day", "model"] },
    });
    const expected = await database.owner.query(
      `test.slow_usage_by_${kind}`,
      `select value as ${kind}, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, model, ${FIGURES}
       from runs cross join lateral unnest(${values}) as one (value)
       where tenant_id = $1 and run_type not in ('upload', 'mask-upload') group by 1, 2, 3 order by 1, 2, 3`,
      [tenant],
    );
    expect(found).toEqual(expected);
  }
}

/** What the API returns, and the same from the runs themselves. */
async function compareUsage(tenant: string): Promise<void> {
  await compareAttributedUsage(tenant);
  const [found, expected] = await Promise.all([
    sumUsage(database.db.forTenant(tenant), tenant, { ...RANGE, by: ALL }),
    database.owner.query(
      "test.slow_usage",
      `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, key_id, model, operation, ${FIGURES}
       from runs where tenant_id = $1 and run_type not in ('upload', 'mask-upload')
       group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
      [tenant],
    ),
  ]);
  expect(found).toEqual(expected);
}

const listSums = async () => [
  ...(await database.owner.query(
    "test.sums",
    "select * from daily_usage order by tenant_id, day, operation, model, key_id",
  )),
  ...(await database.owner.query("test.attributed", "select * from attributed_usage order by 1, 2, 3, 4, 5")),
];
const isComplete = async () =>
  (
    await database.owner.query<{ complete: boolean }>(
      "test.complete",
      `select bool_and(xact is not null and backfill_before is null) as complete
       from (select * from daily_usage_cursor union all select * from attributed_usage_cursor) as cursors`,
    )
  )[0]!.complete;

type Owner = { tenant: string; key: string | null };

type Attributed = { customer?: string; end_user?: string; cost_tags?: string[] };
const attributeAtRandom = (random: (max: number) => number): Attributed => ({
  ...(random(2) === 0 && { customer: `c${random(2)}` }),
  ...(random(2) === 0 && { end_user: `u${random(3)}` }),
  ...(random(2) === 0 && { cost_tags: random(2) === 0 ? ["a"] : ["a", "b"] }),
});

async function acceptRun(
  { tenant, key }: Owner,
  model = "m",
  estimate: number | null = 50_000,
  attributed: Attributed = {},
): Promise<string> {
  const run_id = v7();
  await insertRun(database.db, {
    ...attributed,
    ...{ run_id, root_run_id: run_id, tenant_id: tenant, user_id: "u", event_id: v7(), depth: 1, lane: "fake" },
    ...{ operation: "images.generate", run_type: "image-generation", deadlineSeconds: 600, model, key_id: key },
    ...{ inputs: {}, plan: [], metadata: {}, warnings: [], estimate },
  });
  return run_id;
}

async function startRun(runId: string): Promise<void> {
  await database.db.query(
    "test.start",
    `with open as (update open_runs set started_at = now(), dispatched_at = now() where run_id = $1)
     update runs set status = 'processing', started_at = now() where run_id = $1`,
    [runId],
  );
}

const ERROR = { code: "run_timeout" as const, message: "timeout", details: {} };
const endAs = (runId: string, status: "completed" | "failed" | "canceled", cost: number | null) =>
  endRun(
    database.db,
    { run_id: runId },
    status === "completed"
      ? { status, result: { outputs: [] }, cost, provider: "p", warnings: [] }
      : { status, error: ERROR },
    v7(),
  );

const upload = (tenant: string) => {
  const run_id = v7();
  const asset = {
    asset_id: v7(),
    media_type: "image/png",
    width: 1,
    height: 1,
    size_bytes: 1,
    sha256: "x",
    role: "source",
  };
  return insertUploadRun(database.db, {
    ...{ run_id, root_run_id: run_id, tenant_id: tenant, user_id: "u", event_id: v7(), depth: 1, lane: "" },
    ...{
      operation: "uploads.create",
      run_type: "upload",
      deadlineSeconds: 1,
      inputs: {},
      plan: [],
      metadata: {},
      warnings: [],
    },
    asset: { ...asset, storage_key: run_id },
  });
};

const insertPastRuns = (owners: Owner[], random: (max: number) => number, count: number) =>
  insertEndedRuns(
    database.owner,
    Array.from({ length: count }, () => {
      const { tenant, key } = owners[random(owners.length)]!;
      return {
        ...{ tenant_id: tenant, created_at: Date.parse("2026-03-01T00:00:00Z") + random(20) * 5e7, prompt: "p" },
        ...{ model: `m${random(3)}`, provider: "p", user_id: "u", key_id: key!, error_code: null },
        run_type: random(5) === 0 ? "upload" : "image-generation",
        status: (["completed", "failed", "canceled"] as const)[random(3)]!,
      };
    }),
  );

/** A runtime that keeps what is counted, as `name labels`. */
function createCountingRuntime() {
  const counted: Record<string, number> = {};
  const count = (name: string, labels: object, by = 1) => {
    const key = [name, ...Object.values(labels)].join(" ");
    counted[key] = (counted[key] ?? 0) + by;
  };
  const metrics = { isEnabled: true, count, record: () => {}, observe: () => {} };
  return { counted, runtime: createTestRuntime({ metrics }) };
}

describe("counters of ended runs", () => {
  it("count each run once by operation and status, its attempts by outcome, and what it wasted", async () => {
    const { counted, runtime } = createCountingRuntime();
    while (await turn(undefined, runtime));
    const owner = { tenant: v7(), key: null };
    const ids = [await acceptRun(owner), await acceptRun(owner), await acceptRun(owner), await acceptRun(owner)];
    const outcomes = ["succeeded", "failed", "unknown", "submitted"];
    await database.db.query(
      "test.attempts",
      `insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, state, price)
       select run_id, 0, 1, run_id, 0, 'p', state, 50000 from unnest($1::uuid[], $2::text[]) as a (run_id, state)`,
      [ids, outcomes],
    );
    for (const id of ids) await startRun(id);
    await endAs(ids[0]!, "completed", 40_000);
    await endAs(ids[1]!, "failed", null);
    await endAs(ids[2]!, "failed", null);
    while (await turn(undefined, runtime));
    await endAs(ids[3]!, "failed", null);
    for (let round = 0; round < 5; round++) await turn(undefined, runtime);
    expect(counted).toEqual({
      "gesso.runs.ended images.generate completed ": 1,
      "gesso.runs.ended images.generate failed run_timeout": 3,
      "gesso.attempts.ended p succeeded": 1,
      "gesso.attempts.ended p failed": 1,
      "gesso.attempts.ended p unknown": 1,
      "gesso.attempts.ended p abandoned": 1,
      // The unknown and the abandoned attempt.
      "gesso.money.wasted": 0.1,
    });
  });
});

describe("usage from sums", () => {
  it.each([1, 2, 3])("equals the sums over the runs after each of many random steps (seed %i)", async (seed) => {
    const random = createSeededRandom(seed);
    const tenants = [v7(), v7()];
    const owners = tenants.flatMap((tenant) => [
      { tenant, key: v7() },
      { tenant, key: null },
    ]);
    const [open, ended]: [string[], { runId: string; tenant: string }[]] = [[], []];
    const tenantOf = new Map<string, string>();
    await insertPastRuns(owners, random, 30);
    await database.owner.query(
      "test.attribute",
      "update runs set customer = 'c0', cost_tags = '{a,c}' where model in ('m0', 'm1')",
    );
    for (let step = 0; step < 120; step++) {
      const kind = random(10);
      if (kind < 3) {
        const owner = owners[random(owners.length)]!;
        const estimate = random(3) === 0 ? null : random(90_000);
        const runId = await acceptRun(owner, `m${random(3)}`, estimate, attributeAtRandom(random));
        tenantOf.set(runId, owner.tenant);
        open.push(runId);
      } else if (kind < 6 && open.length > 0) {
        const [runId] = open.splice(random(open.length), 1);
        const tenant = tenantOf.get(runId!)!;
        const status = (["completed", "completed", "failed", "canceled"] as const)[random(4)]!;
        if (status === "canceled" && random(2) === 0)
          await requestCancellation(database.db, tenant, runId!, { ...ERROR, code: "canceled_by_user" as never }, v7());
        else {
          await startRun(runId!);
          await endAs(runId!, status, random(3) === 0 ? null : random(90_000));
        }
        ended.push({ runId: runId!, tenant });
      } else if (kind === 6 && ended.length > 0) {
        const { runId, tenant } = ended[random(ended.length)]!;
        await tombstoneRun(database.db.forTenant(tenant), tenant, runId, v7());
      } else if (kind === 7) await upload(tenants[random(2)]!);
      // Two processes that both believe that they hold the lease.
      else if (kind === 8) await Promise.all([turn(), turn(), turn()]);
      else if (random(25) === 0) await resetSums();
      else await turn();
      for (const tenant of tenants) await compareUsage(tenant);
    }
    await sumAll();
    expect(await isComplete()).toBe(true);
    for (const tenant of tenants) await compareUsage(tenant);
    const kept = await listSums();
    await resetSums();
    await sumAll();
    expect(await listSums()).toEqual(kept);
  });

  it("has neither the sums nor the runs of another tenant", async () => {
    const [one, other] = [v7(), v7()];
    for (const tenant of [one, other]) {
      const runId = await acceptRun({ tenant, key: null });
      await startRun(runId);
      await endAs(runId, "completed", 40_000);
      await acceptRun({ tenant, key: null });
    }
    await sumAll();
    const scoped = database.db.forTenant(other);
    expect(await sumUsage(scoped, other, { ...RANGE, by: [] })).toMatchObject([{ runs: 2, amount: 0.04 }]);
    expect(await sumUsage(scoped, one, { ...RANGE, by: [] })).toMatchObject([{ runs: 0, amount: 0 }]);
  });

  it("counts a run once that ends while earlier runs are added", async () => {
    const tenant = v7();
    const owner = { tenant, key: v7() };
    await insertPastRuns([owner], createSeededRandom(1), 40);
    const runs = [await acceptRun(owner), await acceptRun(owner)];
    for (const runId of runs) await startRun(runId);
    await turn();
    await endAs(runs[0]!, "completed", 10_000);
    for (let count = 0; count < 3; count++) await turn();
    await endAs(runs[1]!, "completed", 10_000);
    await sumAll();
    expect(await isComplete()).toBe(true);
    await compareUsage(tenant);
  });
});

describe("events that are older than the sums know", () => {
  it("stay until their runs are counted", async () => {
    const tenant = v7();
    const runId = await acceptRun({ tenant, key: null });
    await sumAll();
    await startRun(runId);
    await endAs(runId, "completed", 40_000);
    // Every event is older than `-1` days.
    await deleteOldEvents(database.db, -1);
    await sumAll();
    await compareUsage(tenant);
    await deleteOldEvents(database.db, -1);
    const left = await database.owner.query("test.left", "select 1 from events where run_id = $1 and not terminal", [
      runId,
    ]);
    expect(left).toEqual([]);
    await compareUsage(tenant);
  });

  it("may be gone when the duty has not run for as long as events are kept: the sums are built again", async () => {
    const tenant = v7();
    await sumAll();
    const runId = await acceptRun({ tenant, key: null });
    await startRun(runId);
    await endAs(runId, "completed", 40_000);
    await database.owner.query("test.gone", "delete from events where run_id = $1", [runId]);
    for (const cursor of ["daily_usage_cursor", "attributed_usage_cursor"])
      await database.owner.query(
        `test.outdated.${cursor}`,
        `update ${cursor} set read_at = now() - interval '29 days'`,
      );
    await sumAll();
    await compareUsage(tenant);
    expect(await listSums()).toMatchObject([{ completed: 1 }]);
  });
});
