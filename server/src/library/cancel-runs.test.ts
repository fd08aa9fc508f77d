// Cancels open runs by filter: which ones, how many at once, and never one that has started if only queued runs were
// asked for.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { RunCancelFilter } from "../contract/run-filters.ts";
import { insertRun, type NewRun } from "../db/runs/insert-run.ts";
import { claimQueuedRuns } from "../db/runs/queue.ts";
import { findRun } from "../db/runs/runs.ts";
import { startClaimedRun } from "../db/runs/start-run.ts";
import { cancelMatchingRuns, cancelOpenRun } from "./cancel-runs.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

async function acceptRun(tenant: string, fields: Partial<NewRun> = {}): Promise<string> {
  const run_id = v7();
  await insertRun(database.db, {
    ...{ run_id, root_run_id: run_id, tenant_id: tenant, user_id: "u", event_id: v7(), depth: 1, lane: "fake" },
    ...{ operation: "images.generate", run_type: "image-generation", deadlineSeconds: 600 },
    ...{ inputs: { prompt: "x" }, plan: [], metadata: {}, warnings: [] },
    ...fields,
  });
  return run_id;
}

async function startRun(tenant: string): Promise<string> {
  const [claim] = await claimQueuedRuns(database.db, [{ tenant_id: tenant, lane: "fake", count: 1 }]);
  await startClaimedRun(database.db, claim!, v7());
  return claim!.run_id;
}

function createCanceler(tenant: string) {
  const ended: string[] = [];
  const notifications = { runEnded: (runId: string) => void ended.push(runId), resolveWakeup: async () => {} };
  const services = { notifications } as unknown as Parameters<typeof cancelMatchingRuns>[0];
  const context = { database: database.db.forTenant(tenant), caller: { tenant_id: tenant } } as unknown as Parameters<
    typeof cancelMatchingRuns
  >[1];
  return {
    ended,
    cancel: (filter: RunCancelFilter) => cancelMatchingRuns(services, context, filter),
    cancelOne: (runId: string, isQueuedOnly: boolean) => cancelOpenRun(services, context, runId, isQueuedOnly),
  };
}
const statusOf = async (tenant: string, runId: string) => (await findRun(database.db, tenant, runId))?.status;

it("cancels queued runs, and leaves runs that have started and those of other tenants", async () => {
  const [tenant, other] = [v7(), v7()];
  await acceptRun(tenant);
  const started = await startRun(tenant);
  const queued = [await acceptRun(tenant), await acceptRun(tenant)];
  const foreign = await acceptRun(other);
  const canceler = createCanceler(tenant);
  expect(await canceler.cancel({ status: "queued" })).toEqual({ canceled: 2, more: false });
  expect(canceler.ended).toEqual(queued);
  expect(await statusOf(tenant, queued[0]!)).toBe("canceled");
  expect(await statusOf(tenant, started)).toBe("processing");
  expect(await statusOf(other, foreign)).toBe("queued");
  expect(await canceler.cancel({ status: "queued" })).toEqual({ canceled: 0, more: false });
});

it("asks each run that has started once to stop", async () => {
  const tenant = v7();
  await acceptRun(tenant);
  const started = await startRun(tenant);
  const canceler = createCanceler(tenant);
  expect(await canceler.cancel({ status: "processing" })).toEqual({ canceled: 1, more: false });
  expect((await findRun(database.db, tenant, started))?.cancel_requested_at).toEqual(expect.any(Date));
  expect(await canceler.cancel({ status: "processing" })).toEqual({ canceled: 0, more: false });
});

it("does not cancel a run that has started since it was listed as queued", async () => {
  const tenant = v7();
  await acceptRun(tenant);
  const started = await startRun(tenant);
  const canceler = createCanceler(tenant);
  expect(await canceler.cancelOne(started, true)).toBe(false);
  expect((await findRun(database.db, tenant, started))?.cancel_requested_at).toBeNull();
  expect(await canceler.cancelOne(started, false)).toBe(true);
});

it.each<[string, Partial<NewRun>, Omit<RunCancelFilter, "status">]>([
  ["run type", { run_type: "image-upscale" }, { run_type: "image-upscale" }],
  ["model", { model: "flux-dev" }, { model: "flux-dev" }],
  ["user", { user_id: "ann" }, { user_id: "ann" }],
  ["key", { key_id: "00000000-0000-7000-8000-0000000000aa" }, { key_id: "00000000-0000-7000-8000-0000000000aa" }],
])("cancels only runs of the %s", async (_, fields, filter) => {
  const tenant = v7();
  const [matching, other] = [await acceptRun(tenant, fields), await acceptRun(tenant)];
  expect(await createCanceler(tenant).cancel({ status: "queued", ...filter })).toEqual({ canceled: 1, more: false });
  expect([await statusOf(tenant, matching), await statusOf(tenant, other)]).toEqual(["canceled", "queued"]);
});

it("cancels only runs that were accepted before a time", async () => {
  const tenant = v7();
  const older = await acceptRun(tenant);
  const { created_at } = (await findRun(database.db, tenant, older))!;
  const canceler = createCanceler(tenant);
  const at = (ms: number) => new Date(created_at.getTime() + ms).toISOString();
  expect(await canceler.cancel({ status: "queued", created_before: at(0) })).toEqual({ canceled: 0, more: false });
  expect(await canceler.cancel({ status: "queued", created_before: at(1) })).toEqual({ canceled: 1, more: false });
});

it("cancels at most 100 runs at once, the oldest first, and reports that there are more", async () => {
  const tenant = v7();
  const runIds: string[] = [];
  for (let n = 0; n < 102; n++) runIds.push(await acceptRun(tenant));
  const canceler = createCanceler(tenant);
  expect(await canceler.cancel({ status: "queued" })).toEqual({ canceled: 100, more: true });
  expect(canceler.ended).toEqual(runIds.slice(0, 100));
  expect(await canceler.cancel({ status: "queued" })).toEqual({ canceled: 2, more: false });
});
