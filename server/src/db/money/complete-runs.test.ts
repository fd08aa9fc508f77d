// Runs that complete together: each is charged for itself, what was wasted is recorded, and budgets get back exactly
// what was not spent.

import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { failAttempt } from "../attempts/attempts.ts";
import { claimAttempt } from "../attempts/claim-attempt.ts";
import { saveTicket } from "../attempts/tickets.ts";
import type { RunClaim } from "../run-claims.ts";
import { saveOutputAndComplete } from "../runs/end-runs.ts";
import { insertRun } from "../runs/insert-run.ts";
import { startClaimedRun } from "../runs/start-run.ts";
import { findLedgerViolations } from "./ledger-check.ts";

const RESERVED = 40_000;
const tenants = [v7(), v7()];
let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  for (const tenant of tenants)
    await database.db.query(
      "test.tenant",
      `insert into tenants (tenant_id, name, limits) values ($1, 't', '{"spend_per_day": 10}')`,
      [tenant],
    );
});
afterAll(() => database?.stop());

const attemptOf = ({ run_id }: RunClaim, attempt_number = 1) => ({ run_id, request_index: 0, attempt_number });
const claimFor = async (claim: RunClaim, attemptNumber = 1) => {
  const offer = { idempotency_key: v7(), provider: "p", model: "m", upstream: "u", price: RESERVED };
  const attempt = { ...claim, ...attemptOf(claim, attemptNumber), ...offer };
  await claimAttempt(database.db, { ...attempt, wakeupId: "w", leaseSeconds: 9, runsLocally: false });
};
const begin = async (tenant_id: string) => {
  const run_id = v7();
  await insertRun(database.db, {
    ...{ run_id, tenant_id, user_id: "u", operation: "images.generate", run_type: "image-generation" },
    ...{ inputs: {}, plan: [], metadata: {}, warnings: ["accepted"], root_run_id: run_id, depth: 1, lane: "p" },
    ...{ deadlineSeconds: 60, event_id: v7(), estimate: RESERVED },
  });
  const claim = { run_id, tenant_id, epoch: 0 };
  await startClaimedRun(database.db, claim, v7());
  await claimFor(claim);
  return claim;
};
const complete = (claim: RunClaim, cost: number | null, attemptNumber = 1) =>
  saveOutputAndComplete(database.db, {
    ...{ claim, attempt: attemptOf(claim, attemptNumber), output: { files: [] }, eventId: v7() },
    end: { status: "completed", result: { outputs: [] }, provider: "p", cost, warnings: ["completed"] },
  });
const transfersOf = async ({ run_id }: RunClaim) => {
  const rows = await database.db.query<{ transfer: string }>(
    "test.transfers",
    `select concat_ws(' ', kind, from_account, to_account, amount) as transfer from transfers where cause_id = $1
     order by array_position(array['reserve', 'settle', 'release', 'waste'], kind)`,
    [run_id],
  );
  return rows.slice(1).map(({ transfer }) => transfer);
};
const usedBy = async (tenant: string) => {
  const [row] = await database.db.query<{ day_used: number }>(
    "test.used",
    "select day_used from budgets where tenant_id = $1",
    [tenant],
  );
  return row!.day_used;
};

it("each run of a batch is settled for itself, and a stale claim completes nothing", async () => {
  const claims: RunClaim[] = [];
  for (let index = 0; index < 12; index++) claims.push(await begin(tenants[index % 2]!));
  await Promise.all(claims.map((claim) => saveTicket(database.db, attemptOf(claim), { ticket: { id: "t" } }, 1)));
  // The second attempt delivers; the outcome of the first one is unknown.
  await failAttempt(database.db, attemptOf(claims[4]!), {
    fault: { message: "m", code: "provider_outcome_unknown", details: {} },
    isFinal: false,
  });
  await claimFor(claims[4]!, 2);
  const others = Array.from({ length: 6 }, () => RESERVED);
  const costs: (number | null)[] = [RESERVED, 10_000, 0, null, RESERVED, 50_000, ...others];
  const completed = await Promise.all(
    claims.map((claim, index) =>
      complete(index === 6 ? { ...claim, epoch: 1 } : claim, costs[index]!, index === 4 ? 2 : 1),
    ),
  );
  expect(completed).toEqual(claims.map((_, index) => index !== 6));
  expect(await transfersOf(claims[0]!)).toEqual(["settle reserved spent 40000"]);
  expect(await transfersOf(claims[1]!)).toEqual(["settle reserved spent 10000", "release reserved credit 30000"]);
  expect(await transfersOf(claims[2]!)).toEqual(["release reserved credit 40000"]);
  expect(await transfersOf(claims[3]!)).toEqual(["release reserved credit 40000"]);
  expect(await transfersOf(claims[4]!)).toEqual(["settle reserved spent 40000", "waste outside waste 40000"]);
  expect(await transfersOf(claims[5]!)).toEqual(["settle reserved spent 40000", "waste outside waste 10000"]);
  expect(await transfersOf(claims[6]!)).toEqual([]);

  // The run with the stale claim still holds its reservation.
  expect(await usedBy(tenants[0]!)).toBe(RESERVED + 0 + RESERVED + RESERVED + RESERVED + RESERVED);
  expect(await usedBy(tenants[1]!)).toBe(10_000 + 0 + RESERVED + RESERVED + RESERVED + RESERVED);
  const [run] = await database.db.query<{ warnings: string[]; cost: object }>(
    "test.run",
    "select warnings, cost from runs where run_id = $1",
    [claims[1]!.run_id],
  );
  expect(run).toEqual({ warnings: ["accepted", "completed"], cost: { amount: 0.01, currency: "USD" } });
  expect(await complete(claims[6]!, RESERVED)).toBe(true);
  expect((await findLedgerViolations(database.url)).filter(({ violations }) => violations > 0)).toEqual([]);
});

it("a run without a known price is charged its cost from credit", async () => {
  const claim = await begin(tenants[0]!);
  await database.db.query("test.unpriced", "update open_runs set reserved = null where run_id = $1", [claim.run_id]);
  await complete(claim, 7);
  expect(await transfersOf(claim)).toEqual(["settle credit spent 7"]);
});
