// A year of ended runs of two prepaid tenants. Every third run continues an earlier one, up to 60 days later, so that
// trees are across the border of the archive every day.
import { v7 } from "uuid";
import type { Database } from "../../src/db/connect.ts";
import { random } from "../support/campaign.ts";
import {
  createPastRun,
  indexPastRuns,
  insertPastRuns,
  insertPrepaidTenant,
  type PastRun,
} from "../support/past-runs.ts";

export const DAYS = 365;
export const DAY_MS = 24 * 60 * 60 * 1000;
export const FIRST_DAY = Date.UTC(2025, 0, 1);
const TREE_DAYS = 60;
const MOST_DEPTH = 8;
const PAGE = 5000;

export async function seedYear(owner: Database, database: Database, runsPerDay: number): Promise<PastRun[]> {
  const tenants = [v7(), v7()];
  const runs: PastRun[] = [];
  for (let number = 0; number < DAYS * runsPerDay; number++) {
    const created_at = FIRST_DAY + Math.floor((number / runsPerDay) * DAY_MS);
    const tenant_id = tenants[number % tenants.length]!;
    const status = random(10) === 0 ? ("failed" as const) : ("completed" as const);
    const cost = 1000 * (1 + random(90));
    runs.push(createPastRun({ tenant_id, created_at, status, cost }, findParent(runs, tenant_id, runsPerDay)));
  }
  for (let from = 0; from < runs.length; from += PAGE) await insertPastRuns(owner, runs.slice(from, from + PAGE));
  for (const tenant of tenants) await insertPrepaidTenant(owner, tenant, runs);
  await owner.query("seed.analyze", "analyze");
  await indexPastRuns(database);
  return runs;
}

function findParent(runs: PastRun[], tenant_id: string, runsPerDay: number): PastRun | undefined {
  if (random(3) > 0 || runs.length === 0) return undefined;
  const parent = runs[Math.max(0, runs.length - 1 - random(TREE_DAYS * runsPerDay))]!;
  return parent.tenant_id === tenant_id && parent.depth < MOST_DEPTH ? parent : undefined;
}
