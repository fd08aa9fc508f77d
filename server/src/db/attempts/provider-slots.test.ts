import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../../test/support/database-clock.ts";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { connectDatabase } from "../connect.ts";
import { releaseRequest } from "./open-requests.ts";
import { claimProviderSlot, takeRateLimitToken } from "./provider-slots.ts";

let database: TestDatabase;
let second: ReturnType<typeof connectDatabase>;
beforeAll(async () => {
  database = await startTestDatabase();
  second = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 8 });
});
afterAll(async () => {
  await second.close();
  await database.stop();
});

const openRun = async () => {
  const claim = { run_id: randomUUID(), tenant_id: randomUUID(), epoch: 0, requestIndex: 0 };
  await database.db.query(
    "test.open",
    "insert into open_runs (run_id, tenant_id, deadline_at) values ($1, $2, now() + interval '1 hour')",
    [claim.run_id, claim.tenant_id],
  );
  return claim;
};

describe("places at a provider", () => {
  it("are never more than there are, however many processes ask at once", async () => {
    const runs = await Promise.all(Array.from({ length: 40 }, openRun));
    const got = await Promise.all(runs.map((run, n) => claimProviderSlot(n % 2 ? database.db : second, "few", run, 7)));
    expect(got.filter(Boolean)).toHaveLength(7);
  });

  it("are kept by who has one, and free again when its run has ended", async () => {
    const [first, other] = [await openRun(), await openRun()];
    expect(await claimProviderSlot(database.db, "one", first, 1)).toBe(true);
    expect(await claimProviderSlot(database.db, "one", first, 1)).toBe(true);
    expect(await claimProviderSlot(database.db, "one", other, 1)).toBe(false);
    await database.db.query("test.end", "delete from open_runs where run_id = $1", [first.run_id]);
    expect(await claimProviderSlot(database.db, "one", other, 1)).toBe(true);
  });

  it("are claimed by each request of a run for itself", async () => {
    const first = await openRun();
    const second = { ...first, requestIndex: 100 };
    expect(await claimProviderSlot(database.db, "own", first, 1)).toBe(true);
    expect(await claimProviderSlot(database.db, "own", second, 1)).toBe(false);
    await releaseRequest(database.db, first, first.requestIndex);
    expect(await claimProviderSlot(database.db, "own", second, 1)).toBe(true);
  });

  it("are not given to a run whose claim is lost", async () => {
    const stale = { ...(await openRun()), epoch: 1 };
    expect(await claimProviderSlot(database.db, "fenced", stale, 1)).toBe(false);
    expect(await claimProviderSlot(database.db, "fenced", await openRun(), 1)).toBe(true);
  });

  it("go to one of the first who wait, and not to who has just come", async () => {
    const [holder, ...waiting] = await Promise.all(Array.from({ length: 6 }, openRun));
    expect(await claimProviderSlot(database.db, "ordered", holder!, 1)).toBe(true);
    for (const each of waiting) expect(await claimProviderSlot(database.db, "ordered", each, 1)).toBe(false);
    await database.db.query("test.end", "delete from open_runs where run_id = $1", [holder!.run_id]);
    expect(await claimProviderSlot(database.db, "ordered", await openRun(), 1)).toBe(false);
    expect(await claimProviderSlot(database.db, "ordered", waiting[3]!, 1)).toBe(false);
    expect(await claimProviderSlot(database.db, "ordered", waiting[0]!, 1)).toBe(true);
  });

  it("are not kept for those who have not asked for a while", async () => {
    const [holder, ...lost] = await Promise.all(Array.from({ length: 6 }, openRun));
    expect(await claimProviderSlot(database.db, "forgetful", holder!, 1)).toBe(true);
    for (const each of lost) expect(await claimProviderSlot(database.db, "forgetful", each, 1)).toBe(false);
    await database.db.query("test.end", "delete from open_runs where run_id = $1", [holder!.run_id]);
    const aged =
      "update open_requests set slot_last_asked_at = slot_last_asked_at - interval '5 seconds' where slot_provider = 'forgetful'";
    await database.db.query("test.aged", aged);
    expect(await claimProviderSlot(database.db, "forgetful", await openRun(), 1)).toBe(true);
  });
});

describe("turns at a provider", () => {
  it("come as often as allowed, counted over all processes", async () => {
    const clock = createManualClock();
    const own = await startTestDatabase();
    await installDatabaseClock(own);
    const processes = [connectOnClock(own, clock), connectOnClock(own, clock)] as const;
    let taken = 0;
    const asker = async (db: typeof second) => {
      while (clock.at <= 2000) {
        const seconds = await takeRateLimitToken(db, "paced", 600);
        if (seconds === 0) taken++;
        else await clock.sleep(seconds * 1000);
      }
    };
    const asking = Promise.all([...processes, ...processes].map(asker));
    await clock.advance(10_000);
    await asking;
    // A tenth of a minute's worth at once, then ten a second.
    expect(taken).toBe(60 + 20);
    await Promise.all(processes.map((db) => db.close()));
    await own.stop();
  });
});
