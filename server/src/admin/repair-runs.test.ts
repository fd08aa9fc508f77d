// What operators do to runs and parts of the installation, on a real database: nothing is submitted twice, the ledger
// stays balanced, and every change has one audit entry.

import { v7 } from "uuid";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { attemptOf, claimAttemptAt, requestTo, TENANT } from "../../test/support/step-fixtures.ts";
import { setUpStep } from "../../test/support/step-setup.ts";
import { createTestRuntime } from "../../test/support/test-runtime.ts";
import { until } from "../../test/support/until.ts";
import type { RequestContext } from "../access/request-context.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { failAttempt, markOutcomeUnknown } from "../db/attempts/attempts.ts";
import { acquireLeases } from "../db/leases.ts";
import { findLedgerViolations } from "../db/money/ledger-check.ts";
import { endRun } from "../db/runs/end-runs.ts";
import { requeueAllRuns, requeueExpiredClaims } from "../db/runs/open-runs.ts";
import { claimOutboxItems } from "../db/runs/outbox.ts";
import { claimQueuedRuns, listQueues } from "../db/runs/queue.ts";
import { startClaimedRun } from "../db/runs/start-run.ts";
import { openSnapshot as openSnapshotOf, type Snapshot } from "../db/snapshot.ts";
import { Fault } from "../faults/faults.ts";
import {
  endRunOfTenant,
  explain,
  listSetAside,
  listUnknown,
  pausePartOfInstallation,
  quarantineRun,
  rebuild,
  resumePartOfInstallation,
  retryRunOfTenant,
  settleOutcome,
  skipEvent,
} from "../operations/index.ts";
import { submit } from "../runs/attempt/submit.ts";
import { createCircuitBreaker } from "../runs/offers/circuit-breaker.ts";

const { database, first, claim, services, ...step } = setUpStep({ offer: { recovery: "find" } });
const OPERATOR = "00000000-0000-7000-8000-0000000000aa";

beforeAll(async () => {
  await database.db.query("test.operator", "insert into tenants (tenant_id, name) values ($1, 'b')", [OPERATOR]);
});

// The runs of a test that are left in the queue would be claimed by the next one.
afterEach(() => database.db.query("test.empty", "delete from open_runs"));

const admin = ({ openSnapshot = () => openSnapshotOf(database.url) } = {}) => {
  const provided = {
    ...createTestRuntime(),
    ...{ listInvocations: async () => [], deadlineSeconds: 600, openSnapshot },
    notifications: { runQueued: () => {}, runEnded: () => {} } as never,
    providerIds: ["first"],
  };
  const caller = { tenant_id: OPERATOR, user_id: "olga", key_id: null };
  const request = { database: database.db, caller } as unknown as RequestContext;
  return {
    end: (run_id: string) => endRunOfTenant.handle({ run_id }, request, provided),
    retry: (run_id: string) => retryRunOfTenant.handle({ run_id }, request, provided),
    quarantine: (run_id: string) => quarantineRun.handle({ run_id }, request, provided),
    explain: (run_id: string) => explain.handle({ run_id }, request, provided),
    pause: (part: JsonObject) => pausePartOfInstallation.handle(part, request, provided),
    resume: (part: JsonObject) => resumePartOfInstallation.handle(part, request, provided),
    rebuild: () => rebuild.handle({}, request, provided),
    settle: (outcome: JsonObject) => settleOutcome.handle(outcome, request, provided),
    listUnknownOutcomes: (page: JsonObject) => listUnknown.handle(page, request, provided),
    listSetAsideEvents: (limit: number) => listSetAside.handle({ limit }, request, provided),
    skipEvent: (event_id: string) => skipEvent.handle({ event_id }, request, provided),
  };
};
const entriesOf = async (subject: string) =>
  (
    await database.db.query<{ action: string }>(
      "test.entries",
      "select action from audit_log where subject = $1 order by at",
      [subject],
    )
  ).map(({ action }) => action);
const claimNext = async () => {
  const [next] = await claimQueuedRuns(database.db, [{ tenant_id: TENANT, lane: "fake", count: 1 }]);
  return next && { run_id: next.run_id, tenant_id: next.tenant_id, epoch: next.epoch };
};
const expectBalanced = async () =>
  expect((await findLedgerViolations(database.url)).filter(({ violations }) => violations > 0)).toEqual([]);
const submitAs = (as: typeof claim) => submit(services, as, requestTo(first), { attemptNumber: 1, wakeupId: "wakeup" });

describe("retry", () => {
  it("starts a run again under a new epoch, and adopts the job that its provider has accepted", async () => {
    expect(await submitAs(claim)).toMatchObject({ state: "running" });
    expect(await admin().retry(claim.run_id)).toEqual({ run_id: claim.run_id, state: "queued" });
    expect(await startClaimedRun(database.db, claim, v7())).toBeUndefined();
    const next = (await claimNext())!;
    expect(next).toEqual({ ...claim, epoch: claim.epoch + 1 });
    expect(await submitAs(next)).toMatchObject({ state: "running", attemptNumber: 1 });
    expect(first.submissions).toHaveLength(1);
    expect(await entriesOf(claim.run_id)).toEqual(["admin.retry"]);
  });
});

describe("explain", () => {
  it("shows one moment of a run that goes on while it is read", async () => {
    let hasGoneOn = false;
    const openSnapshot = async () => {
      const { snapshot, close } = await openSnapshotOf(database.url);
      const execute: Snapshot["execute"] = async (...statement) => {
        const rows = await snapshot.execute(...statement);
        if (!hasGoneOn) await submitAs(claim);
        hasGoneOn = true;
        return rows;
      };
      return { snapshot: { execute }, close };
    };
    const during = await admin({ openSnapshot }).explain(claim.run_id);
    expect(during.attempts).toEqual([]);
    const after = await admin().explain(claim.run_id);
    expect(after.attempts).toMatchObject([{ state: "submitted" }]);
    expect(after.conclusion).toContain("Job 0 waits for first, which accepted it at");
  });
});

describe("quarantine", () => {
  it("keeps a run out of execution, whatever is requeued, until it is retried", async () => {
    await submitAs(claim);
    expect((await admin().quarantine(claim.run_id)).state).toBe("quarantined");
    await requeueAllRuns(database.db);
    await requeueExpiredClaims(database.db, 100);
    const { open, conclusion } = await admin().explain(claim.run_id);
    expect([open!.quarantined, conclusion]).toEqual([true, expect.stringMatching(/^The run is in quarantine/)]);
    expect(await claimNext()).toBeUndefined();
    expect(await submitAs({ ...claim })).toMatchObject({ state: "claim_lost" });
    await admin().retry(claim.run_id);
    const { deadline_at } = (await admin().explain(claim.run_id)).open!;
    expect(Date.parse(deadline_at) - Date.now()).toBeLessThan(601_000);
    expect((await claimNext())?.run_id).toBe(claim.run_id);
    expect(first.submissions).toHaveLength(1);
  });
});

describe("end", () => {
  it("fails a run, cancels its job at the provider and keeps the ledger balanced", async () => {
    await submitAs(claim);
    expect((await admin().end(claim.run_id)).state).toBe("ended");
    const explained = await admin().explain(claim.run_id);
    expect([explained.status, explained.error]).toMatchObject([
      "failed",
      { code: "run_timeout", details: { reason: "ended_by_operator" } },
    ]);
    const items = await claimOutboxItems(database.db, { cancelsAt: "first" }, 10);
    expect(items).toMatchObject([{ kind: "cancel_job", payload: { run_id: claim.run_id, provider: "first" } }]);
    await expectBalanced();
    for (const change of [admin().end, admin().retry, admin().quarantine])
      await expect(change(claim.run_id)).rejects.toMatchObject({ code: "conflict", details: { reason: "run_ended" } });
    await expect(admin().end(v7())).rejects.toMatchObject({ code: "run_not_found" });
    expect((await entriesOf(claim.run_id)).filter((action) => action !== "admin.explain")).toEqual(["admin.end"]);
  });
});

describe("an unknown outcome", () => {
  const giveUp = async () => {
    const attempt = await claimAttemptAt(database.db, claim, first);
    await markOutcomeUnknown(database.db, (await step.latestAttempt())!);
    await failAttempt(database.db, attempt, { fault: new Fault("provider_outcome_unknown").body(), isFinal: true });
  };
  const settle = (charged: number) => admin().settle({ run_id: claim.run_id, job: 0, try: 1, charged });
  const wasted = async () => {
    const [row] = await database.db.query<{ amount: number }>(
      "test.waste",
      "select coalesce(sum(amount), 0)::int as amount from entries where account = 'waste'",
    );
    return row!.amount;
  };

  it.each([
    ["accepted at the expected price", 0.01],
    ["never accepted", 0],
    ["more expensive than expected", 0.025],
  ])("that was %s is settled once, and the ledger has what was charged", async (_, charged) => {
    const before = await wasted();
    await giveUp();
    await expect(settle(charged)).rejects.toMatchObject({ code: "conflict", details: { reason: "run_open" } });
    const error = new Fault("provider_outcome_unknown").body();
    await endRun(database.db, claim, { status: "failed", error }, v7());
    const { data } = await admin().listUnknownOutcomes({ limit: 100 });
    expect(data.find(({ run_id }) => run_id === claim.run_id)).toMatchObject({
      ...{ job: 0, try: 1, provider: "first", price: 0.01, run_status: "failed", tenant_id: TENANT },
    });
    expect((await wasted()) - before).toBe(10_000);
    expect(await settle(charged)).toMatchObject({ charged, recorded: 0.01 });
    expect((await wasted()) - before).toBe(charged * 1e6);
    await expect(settle(0)).rejects.toMatchObject({ details: { reason: "nothing_to_settle" } });
    expect((await wasted()) - before).toBe(charged * 1e6);
    const left = await admin().listUnknownOutcomes({ limit: 100 });
    expect(left.data.map(({ run_id }) => run_id)).not.toContain(claim.run_id);
    expect(await entriesOf(claim.run_id)).toEqual(["admin.settle"]);
    expect((await admin().explain(claim.run_id)).attempts).toMatchObject([{ settled: charged }]);
    await expectBalanced();
  });
});

describe("a pause", () => {
  it("of a tenant keeps its queued runs in the queue", async () => {
    await admin().retry(claim.run_id);
    expect((await admin().pause({ tenant_id: TENANT })).data).toMatchObject([{ kind: "tenant", paused_by: "olga" }]);
    expect([await listQueues(database.db), await claimNext()]).toEqual([[], undefined]);
    expect((await admin().resume({ tenant_id: TENANT })).data).toEqual([]);
    expect((await claimNext())?.run_id).toBe(claim.run_id);
    expect(await entriesOf(`tenant ${TENANT}`)).toEqual(["admin.pause", "admin.resume"]);
  });

  it("of a provider opens the circuit of all its offers, also after a success", async () => {
    await admin().pause({ provider: "first" });
    const clock = createManualClock();
    const breaker = createCircuitBreaker(database.db, { failures: 3, seconds: 1 }, clock);
    const offer = { provider: "first", upstreamModel: "any" };
    const other = { provider: "second", upstreamModel: "any" };
    await until(() => breaker.openForSeconds(offer) > 0);
    await breaker.recordSuccess(offer);
    expect([await breaker.tryAcquire(offer), await breaker.tryAcquire(other)]).toEqual([false, true]);
    await admin().resume({ provider: "first" });
    await clock.advance(500);
    await until(() => breaker.tryAcquire(offer));
  });

  it("of a duty gives its lease to no process", async () => {
    expect(await acquireLeases(database.db, "a", ["duty/x", "duty/y"], 60)).toEqual(["duty/x", "duty/y"]);
    await admin().pause({ duty: "duty/x" });
    expect(await acquireLeases(database.db, "a", ["duty/x", "duty/y"], 60)).toEqual(["duty/y"]);
    await admin().resume({ duty: "duty/x" });
    expect(await acquireLeases(database.db, "a", ["duty/x"], 60)).toEqual(["duty/x"]);
  });

  it("of what does not exist is refused", async () => {
    await expect(admin().pause({ provider: "frist" })).rejects.toMatchObject({ code: "route_not_found" });
    await expect(admin().pause({ tenant_id: v7() })).rejects.toMatchObject({ code: "route_not_found" });
  });
});

describe("an event that cannot become messages", () => {
  it("is listed until it is skipped, once", async () => {
    const event_id = v7();
    await database.db.query(
      "test.set_aside",
      "insert into webhook_set_aside_events (event_id, run_id, tenant_id, type, reason) values ($1, $2, $3, 'run.failed', 'r')",
      [event_id, claim.run_id, TENANT],
    );
    expect((await admin().listSetAsideEvents(10)).data).toMatchObject([{ event_id, type: "run.failed", reason: "r" }]);
    expect((await admin().skipEvent(event_id)).state).toBe("skipped");
    expect((await admin().listSetAsideEvents(10)).data).toEqual([]);
    await expect(admin().skipEvent(event_id)).rejects.toMatchObject({ code: "route_not_found" });
    expect(await entriesOf(event_id)).toEqual(["admin.skipEvent"]);
  });
});

describe("rebuild", () => {
  it("returns dispatched runs to the queue under a new epoch", async () => {
    const attempt = attemptOf(claim);
    await submitAs(claim);
    expect((await admin().rebuild()).runs).toBeGreaterThanOrEqual(1);
    expect(await startClaimedRun(database.db, claim, v7())).toBeUndefined();
    expect([attempt.run_id, first.submissions.length]).toEqual([claim.run_id, 1]);
    expect(await entriesOf("engine")).toEqual(["admin.rebuild"]);
  });
});
