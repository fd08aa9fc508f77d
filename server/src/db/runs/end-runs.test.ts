// Ends of runs on a real PostgreSQL. Whatever end and whatever attempts: runs that end in one statement are left as
// those that end one after the other, and their budgets are the same to the micro-dollar.

import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { claimAttempt } from "../attempts/claim-attempt.ts";
import { saveTicket } from "../attempts/tickets.ts";
import { TENANT_BUDGET_HOLDER } from "../money/budgets.ts";
import { creditBalance } from "../money/ledger.ts";
import { findLedgerViolations } from "../money/ledger-check.ts";
import type { RunClaim } from "../run-claims.ts";
import { endRun, saveOutputAndComplete } from "./end-runs.ts";
import { insertRun } from "./insert-run.ts";
import { requestCancellation } from "./open-runs.ts";
import { startClaimedRun } from "./start-run.ts";

const RESERVED = 40_000;
const ERROR = { message: "m", code: "provider_error" as const, details: {} };
const OPERATOR = { tenant_id: v7(), user_id: "operator", key_id: null };
const SHA256 = "0".repeat(64);

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const run = (name: string, text: string, values: unknown[]) => database.db.query(`test.${name}`, text, values);

/** What was done for a run before it ends. The last attempt is the one that delivers. */
const HISTORIES = ["queued", "started", "intent", "submitted", "failed over", "unknown before", "succeeded"] as const;
type History = (typeof HISTORIES)[number];

async function begin(tenant_id: string, history: History, estimate: number | null): Promise<RunClaim> {
  const run_id = v7();
  await insertRun(database.db, {
    ...{ run_id, tenant_id, user_id: "u", operation: "images.generate", run_type: "image-generation" },
    ...{ inputs: {}, plan: [{ task: "image.generate", model: "m", prompt: "a" }] as never, metadata: {}, estimate },
    ...{ warnings: ["accepted"], root_run_id: run_id, depth: 1, lane: "p", deadlineSeconds: 60, event_id: v7() },
  });
  const claim = { run_id, tenant_id, epoch: 0 };
  if (history === "queued") return claim;
  await startClaimedRun(database.db, claim, v7());
  const attempt = async (attempt_number: number, isSubmitted: boolean) => {
    const ref = { run_id, request_index: 0, attempt_number };
    const offer = { idempotency_key: v7(), provider: "p", model: "m", upstream: "u", price: RESERVED };
    await claimAttempt(database.db, {
      ...claim,
      ...ref,
      ...offer,
      wakeupId: "w",
      leaseSeconds: 600,
      runsLocally: false,
    });
    if (isSubmitted) await saveTicket(database.db, ref, { ticket: { id: `t${attempt_number}` } }, 1);
  };
  const set = (state: string, code: string | null) =>
    run("attempt", "update attempts set state = $2, fault = $3, finished_at = now() where run_id = $1", [
      ...[run_id, state, code && { code, message: "m", details: {} }],
    ]);
  if (history === "intent" || history === "submitted") await attempt(1, history === "submitted");
  if (history === "succeeded") {
    await attempt(1, true);
    await set("succeeded", null);
  }
  if (history === "failed over" || history === "unknown before") {
    await attempt(1, true);
    await set("failed", history === "failed over" ? "provider_error" : "provider_outcome_unknown");
    await attempt(2, true);
  }
  return claim;
}

const completed = (cost: number | null) => ({
  ...{ status: "completed" as const, result: { outputs: [] }, provider: "q", cost, warnings: ["completed"] },
});
const file = (run_id: string) => ({
  ...{ asset_id: v7(), role: "output", storage_key: `${run_id}/a`, media_type: "image/png", width: 1, height: 1 },
  ...{ size_bytes: 9, sha256: SHA256 },
});
const deliver = (claim: RunClaim, cost: number | null, attempt_number = 1) =>
  saveOutputAndComplete(database.db, {
    ...{ claim, attempt: { run_id: claim.run_id, request_index: 0, attempt_number }, eventId: v7() },
    ...{ output: { files: [file(claim.run_id)] as never, request: { prompt: "a" } }, end: completed(cost) },
  });

/** Every way in which a run ends. Returns whether it ended. */
const ENDS: Record<string, (claim: RunClaim, history: History) => Promise<boolean>> = {
  "completed for nothing": (claim) => endRun(database.db, claim, completed(0), v7()),
  "completed below its reservation": (claim) => endRun(database.db, claim, completed(10_000), v7()),
  "completed above its reservation": (claim) => endRun(database.db, claim, completed(50_000), v7()),
  "completed at an unknown cost": (claim) => endRun(database.db, claim, completed(null), v7()),
  "completed with its output": (claim, history) =>
    deliver(claim, 30_000, history === "failed over" || history === "unknown before" ? 2 : 1),
  failed: (claim) => endRun(database.db, claim, { status: "failed", error: ERROR }, v7()),
  canceled: (claim) => endRun(database.db, claim, { status: "canceled", error: ERROR }, v7()),
  "failed from outside": ({ run_id }) => endRun(database.db, { run_id }, { status: "failed", error: ERROR }, v7()),
  "canceled by the caller": async ({ run_id, tenant_id }) =>
    (await requestCancellation(database.db, tenant_id, run_id, ERROR, v7())).ended,
  "ended by a stale claim": (claim) => endRun(database.db, { ...claim, epoch: 1 }, completed(7), v7()),
  "delivered by a stale claim": (claim) => deliver({ ...claim, epoch: 1 }, 7),
};

/** All that the database has about a run, without its IDs and times. */
const READ_RUN = `
  select status, progress, result, error, provider, model, warnings, phase, plan, cost, finished_at is not null as ended,
    cancel_requested_at is not null as cancel_requested, last_event_xact is not null as has_event,
    (select jsonb_agg(concat_ws(' ', kind, from_account, to_account, amount) order by kind) from transfers
      where cause_id = runs.run_id) as transfers,
    (select jsonb_agg(concat_ws(' ', type, terminal) order by type) from events where run_id = runs.run_id) as events,
    (select jsonb_agg(status) from unsuccessful_runs where run_id = runs.run_id) as unsuccessful,
    (select jsonb_agg(payload - 'run_id') from outbox where payload ->> 'run_id' = runs.run_id::text) as jobs_to_cancel,
    (select jsonb_agg(jsonb_build_object('state', state, 'finished', finished_at is not null, 'request', request,
      'leased', lease_until > now()) order by attempt_number) from attempts where run_id = runs.run_id) as attempts,
    (select jsonb_agg(concat_ws(' ', role, media_type, size_bytes)) from assets where run_id = runs.run_id) as assets,
    (select jsonb_agg(epoch) from open_runs where run_id = runs.run_id) as open,
    (select count(*)::int from open_requests where run_id = runs.run_id) as open_requests
  from runs where run_id = $1`;
const READ_BUDGET = `select available, is_prepaid, hour_used, day_used, month_used
  from budgets where tenant_id = $1 and holder_id = $2`;

const CASES = HISTORIES.flatMap((history) =>
  Object.keys(ENDS).flatMap((end) => [RESERVED, null].map((estimate) => ({ history, end, estimate }))),
);

/** Only a tenant without limits runs what has no price. */
type Payer = "prepaid" | "limited" | "unlimited";

/** Prepares all cases, ends them, and returns what became of each. A queued run cannot be completed. */
async function endAll(payer: Payer, inTurn: boolean) {
  const tenant = v7();
  const limits = payer === "limited" ? { spend_per_day: 1000 } : {};
  await run("tenant", "insert into tenants (tenant_id, name, limits) values ($1, 't', $2)", [tenant, limits]);
  const credit = { tenant_id: tenant, amount: 100_000_000, is_prepaid: true, transfer_id: v7() };
  if (payer === "prepaid") await creditBalance(database.db, OPERATOR, credit);
  const claims: RunClaim[] = [];
  for (const { history, estimate } of CASES)
    claims.push(await begin(tenant, history, payer === "unlimited" ? estimate : RESERVED));
  const endings = CASES.map(({ history, end }, index) => async () => {
    const ending = ENDS[end]!(claims[index]!, history);
    return ending.catch((thrown) => /no transition/.exec(thrown.message)?.[0]);
  });
  const ended: unknown[] = [];
  if (inTurn) for (const end of endings) ended.push(await end());
  else ended.push(...(await Promise.all(endings.map((end) => end()))));
  const rows = [];
  for (const [index, { run_id }] of claims.entries())
    rows.push({ ...CASES[index], hasEnded: ended[index], ...(await run("run", READ_RUN, [run_id]))[0] });
  return { rows, budget: await run("budget", READ_BUDGET, [tenant, TENANT_BUDGET_HOLDER]) };
}

const PAYERS: Payer[] = ["prepaid", "limited", "unlimited"];
it.each(PAYERS)("runs that end together are left as those that end in turn, for a tenant that is %s", async (payer) => {
  const inTurn = await endAll(payer, true);
  expect(await endAll(payer, false)).toEqual(inTurn);
  expect(new Set(inTurn.rows.map(({ hasEnded }) => hasEnded))).toEqual(new Set([true, false, "no transition"]));
  expect(inTurn.budget).toHaveLength(payer === "unlimited" ? 0 : 1);
  expect((await findLedgerViolations(database.url)).filter(({ violations }) => violations > 0)).toEqual([]);
});

it("an end that PostgreSQL refuses fails alone, and the others of its statement end", async () => {
  const tenant = v7();
  await run("tenant", "insert into tenants (tenant_id, name, limits) values ($1, 't', $2)", [tenant, {}]);
  const claims = [await begin(tenant, "started", RESERVED), await begin(tenant, "started", RESERVED)];
  const refused = endRun(database.db, claims[0]!, { status: "done" as never, error: ERROR }, v7());
  const ended = endRun(database.db, claims[1]!, { status: "failed", error: ERROR }, v7());
  await expect(refused).rejects.toThrow();
  expect(await ended).toBe(true);
  const [first] = await run("run", READ_RUN, [claims[0]!.run_id]);
  expect(first).toMatchObject({ status: "processing", open: [0], transfers: ["reserve credit reserved 40000"] });
});
