// Open runs for tests of the queue and the dispatcher: rows without the run itself, which these tests do not read.
import type { Database } from "../../src/db/connect.ts";
import type { Log } from "../../src/observe/log.ts";
import type { Provider } from "../../src/providers/provider.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { createTestRuntime, TEST_RUN_SETTINGS } from "./test-runtime.ts";

export const tenantId = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;

export const insertQueuedRuns = (database: Database, tenant: string, lane: string, count: number) =>
  database.query<{ run_id: string }>(
    "test.insertQueuedRuns",
    `insert into open_runs (run_id, tenant_id, lane, deadline_at)
     select uuidv7(), $1, $2, now() + interval '1 hour' from generate_series(1, $3::int) returning run_id`,
    [tenant, lane, count],
  );

export const deleteOpenRuns = (database: Database) => database.query("test.deleteOpenRuns", "delete from open_runs");

/** Collects what is logged, so that a test can look for it. */
export const createMemoryLog = () => {
  const messages: string[] = [];
  const write = (_fields: object, message: string) => void messages.push(message);
  return { messages, log: { info: write, warn: write, error: write } };
};

type DispatchParts = {
  database: Database;
  workerSlots: number;
  clock?: Clock;
  rateLimits?: Record<string, object>;
  log?: Log;
};

/** The services of the dispatcher. `rateLimits` names the providers that have one. */
export function createDispatchServices({ database, workerSlots, clock, rateLimits = {}, log }: DispatchParts) {
  const runtime = createTestRuntime({ ...(clock && { clock }), ...(log && { log }) });
  const enabled = Object.entries(rateLimits).map(([id, rateLimit]) => ({
    provider: { id, rateLimit } as Provider,
    env: {},
  }));
  return { ...runtime, database, settings: { ...TEST_RUN_SETTINGS, workerSlots }, providers: { enabled } };
}
