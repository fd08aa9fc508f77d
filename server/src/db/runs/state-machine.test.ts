import fc from "fast-check";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { RUN_STATUSES, type RunStatus } from "../../contract/schemas/run.ts";
import { endRun } from "./end-runs.ts";
import { insertRun } from "./insert-run.ts";
import { requestCancellation } from "./open-runs.ts";
import { startClaimedRun } from "./start-run.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const TENANT = "00000000-0000-7000-8000-000000000001";
const ALLOWED: Record<RunStatus, RunStatus[]> = {
  queued: ["processing", "failed", "canceled"],
  processing: ["completed", "failed", "canceled"],
  completed: [],
  failed: [],
  canceled: [],
};

const newRun = (run_id: string) => ({
  run_id,
  tenant_id: TENANT,
  user_id: "u",
  operation: "images.generate",
  run_type: "image-generation",
  inputs: {},
  plan: [],
  metadata: {},
  warnings: [],
  root_run_id: run_id,
  depth: 1,
  lane: "sandbox",
  deadlineSeconds: 60,
  event_id: v7(),
});
const error = { message: "m", code: "internal_error" as const, details: {} };

/**
 * Changes by hand, one after the other, each with everything that belongs to its state; answers which of them landed.
 */
const DIRECT_UPDATES = `
create function test_by_hand(run uuid, tenant uuid, wanted text[], progresses real[]) returns boolean[] language plpgsql as $$
declare
  landed boolean[] := '{}';
begin
  insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, root_run_id)
  values (run, tenant, 'u', 'images.generate', 'image-generation', '{}', '[]', run);
  for step in 1 .. array_length(wanted, 1) loop
    begin
      update runs set status = wanted[step], progress = progresses[step],
        result = case when wanted[step] = 'completed' then '{"outputs":[]}'::jsonb end,
        error = case when wanted[step] in ('failed', 'canceled') then '{}'::jsonb end,
        finished_at = case when wanted[step] in ('completed', 'failed', 'canceled') then clock_timestamp() end
      where run_id = run;
      landed := landed || true;
    exception when check_violation then
      landed := landed || false;
    end;
  end loop;
  return landed;
end $$`;

type Step = [status: RunStatus, progress: number];

/** What the state machine allows, said once more in other words. */
function expected(sequence: Step[]): boolean[] {
  let status: RunStatus = "queued";
  let progress = 0;
  return sequence.map(([next, at]) => {
    const isEnd = ALLOWED[status].length === 0;
    const isAllowed = at >= progress && (next === status ? !isEnd : ALLOWED[status].includes(next));
    if (isAllowed) [status, progress] = [next, at];
    return isAllowed;
  });
}

describe("the state machine in the database", () => {
  it("lets no forbidden transition land, over 20,000 random sequences of changes by hand", async () => {
    await database.owner.query("test.create", DIRECT_UPDATES);
    const counts = { landed: 0, refused: 0 };
    const step = fc
      .tuple(fc.constantFrom(...RUN_STATUSES), fc.integer({ min: 0, max: 99 }))
      .map(([status, percent]): Step => [status, status === "completed" ? 1 : Math.fround(percent / 100)]);
    const tryOne = async (sequence: Step[]) => {
      const [row] = await database.db.query<{ landed: boolean[] }>(
        "test.hand",
        "select test_by_hand($1, $2, $3, $4) as landed",
        [v7(), TENANT, sequence.map(([status]) => status), sequence.map(([, progress]) => progress)],
      );
      expect([sequence, row!.landed]).toEqual([sequence, expected(sequence)]);
      for (const landed of row!.landed) counts[landed ? "landed" : "refused"]++;
    };
    // Sequences are runs of their own, so eight at a time go over eight connections.
    const batch = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 8, maxLength: 8 });
    const property = fc.asyncProperty(batch, async (sequences) => void (await Promise.all(sequences.map(tryOne))));
    await fc.assert(property, { numRuns: 2500, endOnFailure: true });
    expect(counts.refused).toBeGreaterThan(1000);
    expect(counts.landed).toBeGreaterThan(1000);
  });

  it("ends a run once, with one event, under concurrent attempts to end it", async () => {
    for (let round = 0; round < 60; round++) {
      const runId = v7();
      await insertRun(database.db, newRun(runId));
      const claim = { run_id: runId, tenant_id: TENANT, epoch: 0 };
      const started = round % 2 === 0;
      if (started) await startClaimedRun(database.db, claim, v7());
      const racers = [
        endRun(
          database.db,
          claim,
          { status: "completed", result: { outputs: [] }, provider: "p", cost: 0, warnings: [] },
          v7(),
        ),
        endRun(database.db, claim, { status: "failed", error }, v7()),
        endRun(database.db, { run_id: runId }, { status: "failed", error }, v7()),
        requestCancellation(database.db, TENANT, runId, error, v7()).then((canceled) => canceled.ended),
      ];
      const outcomes = await Promise.allSettled(racers);
      const [row] = await database.db.query<{ status: RunStatus; ends: number; open: number }>(
        "test.outcome",
        `select status, (select count(*)::int from events e where e.run_id = runs.run_id and terminal) as ends,
           (select count(*)::int from open_runs o where o.run_id = runs.run_id) as open from runs where run_id = $1`,
        [runId],
      );
      const won = outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value === true).length;
      // A run that never began cannot complete: that one racer is refused by the guard and leaves the others their
      // chance.
      expect([won <= 1, row!.ends, row!.open]).toEqual([true, won, 1 - won]);
      if (started) expect(won).toBe(1);
    }
  });

  it("cancels or asks, whichever is right, when a run begins in the very moment it is canceled", async () => {
    const outcomes = { ended: 0, asked: 0 };
    for (let round = 0; round < 300; round++) {
      const runId = v7();
      await insertRun(database.db, newRun(runId));
      const [begun, canceled] = await Promise.all([
        startClaimedRun(database.db, { run_id: runId, tenant_id: TENANT, epoch: 0 }, v7()),
        requestCancellation(database.db, TENANT, runId, error, v7()),
      ]);
      expect([canceled.ended, canceled.is_requested]).toEqual([begun === undefined, begun !== undefined]);
      outcomes[canceled.ended ? "ended" : "asked"]++;
    }
    expect(outcomes.ended + outcomes.asked).toBe(300);
  });

  it("refuses a stale epoch whatever it writes", async () => {
    const runId = v7();
    await insertRun(database.db, newRun(runId));
    await database.db.query("test.bump", "update open_runs set epoch = 3 where run_id = $1", [runId]);
    const staleClaim = { run_id: runId, tenant_id: TENANT, epoch: 2 };
    expect(await startClaimedRun(database.db, staleClaim, v7())).toBeUndefined();
    expect(await endRun(database.db, staleClaim, { status: "failed", error }, v7())).toBe(false);
    const [row] = await database.db.query<{ status: RunStatus }>(
      "test.status",
      "select status from runs where run_id = $1",
      [runId],
    );
    expect(row!.status).toBe("queued");
  });

  it("refuses a second terminal event of a run even by hand", async () => {
    const runId = v7();
    await insertRun(database.db, newRun(runId));
    const insert = () =>
      database.db.query(
        "test.event",
        "insert into events (run_id, event_id, tenant_id, type, terminal) values ($1, $2, $3, 'run.failed', true)",
        [runId, v7(), TENANT],
      );
    await insert();
    await expect(insert()).rejects.toMatchObject({ code: "23505" });
  });
});
