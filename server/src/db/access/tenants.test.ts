// Suspending a tenant and activating it again, in a real database: the time of the suspension counts neither against
// the deadlines of its queued runs nor against the retry schedule of its webhook deliveries.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { listOverdueRuns } from "../runs/open-runs.ts";
import { updateTenantRow } from "./tenants.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const query = <R = unknown>(name: string, sql: string, values: unknown[] = []) =>
  database.owner.query<R>(`test.${name}`, sql, values);

describe("a tenant that was suspended for an hour", () => {
  it("has queued runs and deliveries that are not overdue, and an hour more for them when it is active again", async () => {
    const [tenant, queuedRun, dispatchedRun, delivery] = [v7(), v7(), v7(), v7()];
    const actor = { tenant_id: tenant, user_id: "operator", key_id: null };
    await query("tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant]);
    await query(
      "runs",
      `insert into open_runs (run_id, tenant_id, lane, deadline_at, dispatched_at)
       values ($1, $3, 'a', now() - interval '50 minutes', null), ($2, $3, 'a', now() - interval '50 minutes', now())`,
      [queuedRun, dispatchedRun, tenant],
    );
    await query(
      "delivery",
      `insert into open_deliveries (delivery_id, tenant_id, destination, host, expires_at)
       values ($1, $2, 'd', 'h', now() - interval '50 minutes')`,
      [delivery, tenant],
    );
    await updateTenantRow(database.db, actor, tenant, { suspended: true });
    await query("age", "update tenants set suspended_at = now() - interval '1 hour' where tenant_id = $1", [tenant]);
    expect(await listOverdueRuns(database.db, 20, 100)).toEqual([dispatchedRun]);

    await updateTenantRow(database.db, actor, tenant, { weight: 2 });
    await updateTenantRow(database.db, actor, tenant, { suspended: false });
    await updateTenantRow(database.db, actor, tenant, { suspended: false });
    const minutes = await query(
      "minutes",
      `select run_id as id, round(extract(epoch from deadline_at - now()) / 60)::int as minutes from open_runs
       union all
       select delivery_id, round(extract(epoch from expires_at - now()) / 60)::int from open_deliveries`,
    );
    expect(new Set(minutes)).toEqual(
      new Set([
        { id: queuedRun, minutes: 10 },
        { id: dispatchedRun, minutes: -50 },
        { id: delivery, minutes: 10 },
      ]),
    );
  });
});
