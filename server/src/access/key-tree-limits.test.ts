// 64 parallel callers over 20 keys of one tree, on two processes: together they never get more than a limit of a key
// above them. `KEY_TREE_ROUNDS` repeats the rounds.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openKeys } from "../../test/support/key-operations.ts";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { createTestTenant } from "../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { type Caller, limitHolders } from "../db/access/caller.ts";
import { connectDatabase, type Database } from "../db/connect.ts";
import { listBudgets } from "../db/money/budgets.ts";
import { findLedgerViolations } from "../db/money/ledger-check.ts";
import { insertRun, type NewRun } from "../db/runs/insert-run.ts";
import { Fault } from "../faults/faults.ts";
import { hashApiKey } from "./api-key.ts";
import { createApiKeyLookup } from "./api-key-lookup.ts";
import { createCursorSigner } from "./cursors.ts";
import { createRateLimiter, RateLimitEnv } from "./limits/rate-limit.ts";

const ROUNDS = Number(process.env.KEY_TREE_ROUNDS ?? 3);
const CALLERS = 64;
const PRICE = 40_000;

let database: TestDatabase;
let processes: Database[];
beforeAll(async () => {
  database = await startTestDatabase();
  processes = [database.db, connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 8 })];
});
afterAll(async () => {
  await processes?.[1]?.close();
  await database?.stop();
});

const query = async <R>(text: string, values: unknown[] = []): Promise<R[]> =>
  (await database.owner.query(v7(), text, values)) as R[];
const cursors = createCursorSigner([new Uint8Array(32)], { now: () => 0 });
const findCaller = async (key: string) =>
  (await createApiKeyLookup(database.db, { now: () => Date.now() }).find({ digest: hashApiKey(key) }))!;

async function newChildren(parent: Caller, count: number, limits: object): Promise<Caller[]> {
  const keys = openKeys({ database: database.db, caller: parent, cursors });
  return Promise.all(
    Array.from({ length: count }, async () =>
      findCaller((await keys.create({ name: "k", scopes: ["*"], limits })).key!),
    ),
  );
}

/** A root with 2 children, each of them with 3, and these with 2 each: 20 keys below the root, on four levels. */
async function newTree(limits: object, wider: object): Promise<{ root: Caller; keys: Caller[] }> {
  const { key } = await createTestTenant({ url: "", query } as never, { limits });
  const root = await findCaller(key);
  const children = await newChildren(root, 2, wider);
  const grandchildren = (await Promise.all(children.map((child) => newChildren(child, 3, {})))).flat();
  const leaves = (await Promise.all(grandchildren.map((child) => newChildren(child, 2, {})))).flat();
  return { root, keys: [...children, ...grandchildren, ...leaves] };
}

/** What 64 parallel calls come to: how many succeeded, and the refusals. */
async function callInParallel(keys: Caller[], call: (caller: Caller, process: number) => Promise<unknown>) {
  const results = await Promise.allSettled(
    Array.from({ length: CALLERS }, (_, n) => call(keys[n % keys.length]!, n % processes.length)),
  );
  const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  for (const refusal of refusals) if (!(refusal instanceof Fault)) throw refusal;
  return { accepted: CALLERS - refusals.length, refusals: refusals as Fault[] };
}

const newRun = (caller: Caller, more: Partial<NewRun> = {}): NewRun => {
  const run_id = v7();
  const { tenant_id, user_id, key_id } = caller;
  return {
    ...{ run_id, tenant_id, user_id, key_id, operation: "images.generate", run_type: "image-generation" },
    ...{ inputs: {}, plan: [], metadata: {}, warnings: [], root_run_id: run_id, depth: 1, lane: "p" },
    ...{ key_holders: limitHolders(caller).map(({ holder_id }) => holder_id) },
    ...{ deadlineSeconds: 60, event_id: v7(), estimate: PRICE },
    ...more,
  };
};
const accept = (caller: Caller, process: number, more?: Partial<NewRun>) =>
  insertRun(processes[process]!.forTenant(caller.tenant_id), newRun(caller, more));
const openLimiter = (db: Database) =>
  createRateLimiter(
    { database: db, clock: createManualClock(1000), random: () => 0 },
    RateLimitEnv.parse({ TENANT_REQUESTS_PER_MINUTE: 0, TENANT_RUNS_PER_MINUTE: 0 }),
  );

describe("20 keys below one key never get more than its limit", () => {
  it("of spending, from 64 parallel callers on two processes", async () => {
    const counts = new Set<number>();
    for (let round = 0; round < ROUNDS; round++) {
      const { root, keys } = await newTree({ spend_per_day: 0.4 }, { spend_per_day: 0.2 });
      const { accepted, refusals } = await callInParallel(keys, accept);
      counts.add(accepted);
      const [budget] = await listBudgets(database.db, root.tenant_id, { key_id: root.key_id });
      // The tenant has no limit, so the first budget is the one of the root.
      expect(budget).toMatchObject({ holder_id: root.key_id, day_used: accepted * PRICE, day_limit: 400_000 });
      expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(["spend_limit_reached"]));
      expect(refusals.every(({ details }) => ["key", "parent_key"].includes(String(details.of)))).toBe(true);
    }
    expect([...counts]).toEqual([10]);
    expect((await findLedgerViolations(database.url)).filter(({ violations }) => violations > 0)).toEqual([]);
  });

  it("of open runs, from 64 parallel callers on two processes", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { root, keys } = await newTree({ open_runs: 7 }, {});
      const limiter = openLimiter(database.db);
      const { accepted, refusals } = await callInParallel(keys, (caller, process) =>
        accept(caller, process, { openRunLimits: limiter.openRunLimits(caller) }),
      );
      expect(accepted).toBe(7);
      expect(refusals[0]).toMatchObject({
        code: "concurrency_limit_reached",
        details: { of: "parent_key", key_id: root.key_id },
      });
    }
  });

  it("of requests per minute, from 64 parallel callers on two processes", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { root, keys } = await newTree({ requests_per_minute: 10 }, {});
      const limiters = processes.map(openLimiter);
      const { accepted, refusals } = await callInParallel(keys, (caller, process) =>
        limiters[process]!.consume(caller, "requests"),
      );
      // A token that one process holds while it refuses for another key is not lost, but may be late for a caller.
      expect(accepted).toBeLessThanOrEqual(10);
      expect(accepted).toBeGreaterThan(0);
      expect(refusals).toContainEqual(
        expect.objectContaining({
          code: "rate_limited",
          details: expect.objectContaining({ policy: "parent-key-requests", key_id: root.key_id }),
        }),
      );
    }
  });
});

it("a limit of open runs of a key above with room for some of the runs of one statement accepts exactly those", async () => {
  const { root, keys } = await newTree({ open_runs: 5 }, {});
  const openRunLimits = openLimiter(database.db).openRunLimits(keys.at(-1)!);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () => accept(keys.at(-1)!, 0, { openRunLimits, estimate: 0 })),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
  const tenant = { tenant: 6, parents: [{ holder_id: root.key_id!, max: 100 }], key: 100 };
  expect((await callInParallel(keys, (caller, n) => accept(caller, n, { openRunLimits: tenant }))).accepted).toBe(1);
});

it("old and new key of a rotation share the limits of spending and open runs", async () => {
  const { root } = await newTree({}, {});
  const keys = openKeys({ database: database.db, caller: root, cursors });
  const old = await keys.create({ name: "k", scopes: ["*"], limits: { spend_per_day: 0.2 } });
  const next = await keys.rotate(old.id, 3600);
  const callers = [await findCaller(old.key!), await findCaller(next.key!)];
  expect((await callInParallel(callers, accept)).accepted).toBe(5);
  const limits = { openRunLimits: { key: 7 }, estimate: 0 };
  expect((await callInParallel(callers, (caller, process) => accept(caller, process, limits))).accepted).toBe(2);
});

it("a limit that a key gets later counts what its descendants spent before", async () => {
  const { root, keys } = await newTree({}, {});
  for (const key of keys.slice(-3)) await accept(key, 0);
  await query("update api_keys set limits = $2 where key_id = $1", [root.key_id, { spend_per_day: 0.2 }]);
  expect((await callInParallel(keys, accept)).accepted).toBe(2);
});

it("a request that needs tokens of four keys takes them with one statement", async () => {
  const { keys } = await newTree({ requests_per_minute: 10 }, {});
  const statements: string[] = [];
  const counted: Database = { ...database.db };
  counted.execute = ((statement: { name: string }, ...values: never[]) => {
    statements.push(statement.name);
    return (database.db.execute as (...parameters: unknown[]) => unknown)(statement, ...values);
  }) as never;
  await openLimiter(counted).consume(keys.at(-1)!, "requests");
  expect(statements).toEqual(["token_buckets.take"]);
});
