// The rounds of the leading dispatcher, on a real queue and with an engine that only remembers what was started.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import {
  createDispatchServices,
  createMemoryLog,
  deleteOpenRuns,
  insertQueuedRuns,
  tenantId,
} from "../../test/support/queued-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { RunClaim } from "../db/run-claims.ts";
import { findQueueRank, listQueues } from "../db/runs/queue.ts";
import { createDispatchRounds } from "./dispatch-rounds.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());
beforeEach(() => deleteOpenRuns(database.db));

type Execute = TestDatabase["db"]["execute"];
const createRounds = ({ workerSlots = 50, execute = database.db.execute, startRun = async () => {} } = {}) => {
  const started: RunClaim[] = [];
  const clock = createManualClock();
  const { log, messages } = createMemoryLog();
  const services = createDispatchServices({ database: { ...database.db, execute }, workerSlots, clock, log });
  const engineClient = {
    startRun: async (claim: RunClaim) => {
      await startRun();
      started.push(claim);
    },
  };
  return { rounds: createDispatchRounds(services, engineClient as never), started, clock, messages };
};

const CLAIM_STATEMENT = "queue.claim";
const RETURN_STATEMENT = "queue.return";
const failOnce = (statementName: string): Execute => {
  let hasFailed = false;
  return (statement, ...parameters) => {
    if (hasFailed || statement.name !== statementName) return database.db.execute(statement, ...parameters);
    hasFailed = true;
    return Promise.reject(new Error("the database is unavailable"));
  };
};

describe("a round", () => {
  it("finds queued runs by itself and starts them", async () => {
    const { rounds, started } = createRounds();
    expect(await rounds.runRound()).toBe("nothing");
    const { rounds: later, started: startedLater } = createRounds();
    const runs = await insertQueuedRuns(database.db, tenantId(1), "a", 3);
    expect(await later.runRound()).toBe("more");
    expect(startedLater.map(({ run_id }) => run_id).sort()).toEqual(runs.map(({ run_id }) => run_id).sort());
    expect(started).toEqual([]);
  });

  it("looks for queued runs again only after a pause, or at once if it is notified", async () => {
    const { rounds, started, clock } = createRounds();
    expect(await rounds.runRound()).toBe("nothing");
    await insertQueuedRuns(database.db, tenantId(1), "a", 1);
    expect(await rounds.runRound()).toBe("nothing");
    rounds.onRunQueued(`${tenantId(1)}/a`);
    expect(await rounds.runRound()).toBe("more");
    expect(started).toHaveLength(1);

    await insertQueuedRuns(database.db, tenantId(2), "b", 1);
    // The first round after a queue was emptied finds that it is empty.
    await rounds.runRound();
    rounds.onRunQueued("queued");
    expect(await rounds.runRound()).toBe("more");
    expect(started).toHaveLength(2);

    await insertQueuedRuns(database.db, tenantId(3), "c", 1);
    await rounds.runRound();
    clock.at += 1001;
    expect(await rounds.runRound()).toBe("more");
    expect(started).toHaveLength(3);
  });

  it("starts nothing for a notification whose run is no longer queued", async () => {
    const { rounds, started } = createRounds();
    rounds.onRunQueued(`${tenantId(1)}/a`);
    expect(await rounds.runRound()).toBe("more");
    expect(await rounds.runRound()).toBe("nothing");
    expect(started).toEqual([]);
  });

  it("is full if runs are queued and none may start", async () => {
    await insertQueuedRuns(database.db, tenantId(1), "a", 5);
    const { rounds, started } = createRounds({ workerSlots: 0 });
    expect(await rounds.runRound()).toBe("more");
    expect(started).toHaveLength(1);
    expect(await rounds.runRound()).toBe("full");
    expect(started).toHaveLength(1);
  });

  it("returns runs to the queue that the engine did not take", async () => {
    await insertQueuedRuns(database.db, tenantId(1), "a", 2);
    const { rounds, messages } = createRounds({
      startRun: () => Promise.reject(new Error("the engine is unavailable")),
    });
    expect(await rounds.runRound()).toBe("more");
    await vi.waitFor(async () => expect(await listQueues(database.db)).toHaveLength(1));
    expect(messages).toEqual(["starting runs in the engine failed; runs returned to the queue"]);
  });

  it("logs if runs cannot be returned to the queue", async () => {
    await insertQueuedRuns(database.db, tenantId(1), "a", 1);
    const { rounds, messages } = createRounds({
      startRun: () => Promise.reject(new Error("the engine is unavailable")),
      execute: failOnce(RETURN_STATEMENT),
    });
    await rounds.runRound();
    await vi.waitFor(() => expect(messages).toContain("returning runs to the queue failed"));
  });

  it("charges no tenant for runs that could not be claimed, and finds them again", async () => {
    await insertQueuedRuns(database.db, tenantId(1), "a", 1);
    const { rounds, started } = createRounds({ execute: failOnce(CLAIM_STATEMENT) });
    await expect(rounds.runRound()).rejects.toThrow("the database is unavailable");
    expect(await rounds.runRound()).toBe("more");
    expect(started).toHaveLength(1);
  });

  it("does not forget a run that is queued while the last ones of its queue are claimed", async () => {
    await insertQueuedRuns(database.db, tenantId(1), "a", 1);
    const execute: Execute = async (statement, ...parameters) => {
      const rows = await database.db.execute(statement, ...parameters);
      if (statement.name === CLAIM_STATEMENT && started.length === 0) {
        await insertQueuedRuns(database.db, tenantId(1), "a", 1);
        rounds.onRunQueued(`${tenantId(1)}/a`);
      }
      return rows;
    };
    const { rounds, started } = createRounds({ execute });
    await rounds.runRound();
    // Only the notification tells: the next scan is not due.
    expect(await rounds.runRound()).toBe("more");
    expect(started).toHaveLength(2);
  });
});

describe("a refresh", () => {
  it("applies the weights of the tenants", async () => {
    const insertTenant = "insert into tenants (tenant_id, name, weight) values ($1, $2, $3)";
    await database.db.query("test.tenant", insertTenant, [tenantId(7), "heavy", 3]);
    await insertQueuedRuns(database.db, tenantId(7), "a", 20);
    await insertQueuedRuns(database.db, tenantId(8), "a", 20);
    const { rounds, started } = createRounds({ workerSlots: 8 });
    await rounds.refresh(1);
    await rounds.runRound();
    const ofHeavy = started.filter(({ tenant_id }) => tenant_id === tenantId(7));
    expect([started.length, ofHeavy.length]).toEqual([8, 6]);
  });

  it("stores how fast the runs of each tenant start", async () => {
    const { rounds, clock } = createRounds({ workerSlots: 4 });
    await rounds.refresh(1);
    const runs = await insertQueuedRuns(database.db, tenantId(9), "a", 6);
    await rounds.runRound();
    clock.at += 2000;
    await rounds.refresh(1);
    const last = runs
      .map(({ run_id }) => run_id)
      .sort()
      .at(-1)!;
    expect(await findQueueRank(database.db, tenantId(9), last)).toEqual({ ahead: 1, per_second: 2 });
    clock.at += 2000;
    await rounds.refresh(1);
    expect(await findQueueRank(database.db, tenantId(9), last)).toEqual({ ahead: 1, per_second: 0 });
  });
});
