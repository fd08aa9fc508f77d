// A paid response in the spool becomes the result of its run after its worker died: on the same machine, or while the
// run has moved to another one. PostgreSQL and the disk are real.

import { mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  attemptOf,
  claimRun,
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestProviders,
  done,
  type FakeProvider,
  requestTo,
  requeue,
  SimulatedCrash,
  sha256,
  type TestRuntime,
} from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { quarantineOpenRun, retryOpenRun } from "../../db/admin/repair-runs.ts";
import { findLatestAttempt } from "../../db/attempts/attempts.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { endRun } from "../../db/runs/end-runs.ts";
import { Fault } from "../../faults/faults.ts";
import type { Offer } from "../../providers/provider.ts";
import type { SubmitResult } from "../steps.ts";
import { recoverSpooledResponses } from "./recover-spool.ts";
import { createResponseSpool, type ResponseSpool } from "./response-spool.ts";
import { submit } from "./submit.ts";

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await startTestDatabase();
  folder = mkdtempSync(join(tmpdir(), "gesso-recover-"));
});
afterAll(async () => {
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

let runtime: TestRuntime;
let fake: FakeProvider;
let claim: RunClaim;
let spool: ResponseSpool;
let woken: string[];
let spoolNumber = 0;
const spoolFolder = () => join(folder, `spool-${spoolNumber}`);
const openSpool = () => {
  spoolNumber++;
  return createResponseSpool({ SPOOL_DIR: spoolFolder(), SPOOL_MEGABYTES: 10 }, runtime);
};

/** A run at a provider that responds with its image. */
const prepare = async (offer: Partial<Offer>) => {
  runtime = createRuntime({ submitSeconds: 25 });
  fake = createFakeProvider("fake", { synchronousSeconds: 60, ...offer });
  fake.submit = async () => done("pixels");
  claim = await claimRun(database.db);
  spool = openSpool();
  woken = [];
};
beforeEach(() => prepare({ recovery: "none" }));

type Parts = { spoolOf?: ResponseSpool };
const servicesWith = ({ spoolOf = spool }: Parts = {}) => {
  const providers = createTestProviders([fake]);
  const services = createStepServices({ database: database.db, runtime, providers, spool: spoolOf });
  const notifications = { resolveWakeup: async (id: string) => void woken.push(id) };
  return { ...services, notifications: { ...services.notifications, ...notifications } };
};
const submitWith = (parts: Parts = {}, as = claim): Promise<SubmitResult> =>
  submit(servicesWith(parts), as, requestTo(fake), { attemptNumber: 1, wakeupId: "wakeup" });
const recover = () => recoverSpooledResponses(servicesWith());
const stateOf = async () => (await findLatestAttempt(database.db, claim.run_id, 0))!;
const PRODUCED = { state: "produced", files: [{ sha256: sha256("pixels") }] };
/** As if the time of the lease had passed. */
const expireLease = () =>
  database.db.query("test.expire", "update attempts set lease_until = now() where run_id = $1", [claim.run_id]);

describe("a response whose worker died before it was stored", () => {
  const crash = async () => {
    runtime.crashAt = "response_spooled";
    await expect(submitWith()).rejects.toThrow(SimulatedCrash);
    expect(fake.submissions).toHaveLength(1);
  };

  it.each([undefined, "resubmit"] as const)(
    "is the result on the same machine, with on_unknown %s",
    async (on_unknown) => {
      await prepare({ recovery: "none", ...(on_unknown && { on_unknown }) });
      await crash();
      expect(await submitWith()).toMatchObject({ state: "wait" });
      await expireLease();
      expect(await submitWith()).toMatchObject({ ...PRODUCED, offer: fake.offer });
      expect([fake.submissions.length, (await spool.list()).length]).toEqual([1, 0]);
    },
  );

  it("is recovered by its machine while the run is at another one, which waits for it", async () => {
    await crash();
    await expireLease();
    const elsewhere = { spoolOf: openSpool() };
    const later = await requeue(database.db, claim);
    expect(await submitWith(elsewhere, later)).toMatchObject({ state: "wait", attemptNumber: 1 });
    expect((await stateOf()).state).toBe("unknown");
    expect(await recover()).toBe(1);
    expect(woken).toEqual(["wakeup"]);
    expect(await submitWith(elsewhere, later)).toMatchObject(PRODUCED);
    expect([fake.submissions.length, (await spool.list()).length]).toEqual([1, 0]);
    // The request has ended, so that it holds neither a provider slot nor a claim.
    const open = "select 1 from open_requests where run_id = $1";
    expect(await database.db.query("test.open_requests", open, [claim.run_id])).toEqual([]);
  });

  it("is waited for only as long as for a callback", async () => {
    await crash();
    await expireLease();
    const elsewhere = { spoolOf: openSpool() };
    await submitWith(elsewhere);
    const age = "update attempts set unknown_since = now() - interval '1 hour' where run_id = $1";
    await database.db.query("test.age", age, [claim.run_id]);
    await expect(submitWith(elsewhere)).rejects.toMatchObject({ code: "provider_outcome_unknown" });
  });

  it("is not taken from a process that still holds the lease", async () => {
    await crash();
    expect(await recover()).toBe(0);
    expect(await spool.list()).toHaveLength(1);
  });

  it("is removed when the run has ended", async () => {
    await crash();
    const error = new Fault("run_timeout").body();
    await endRun(database.db, claim, { status: "failed", error }, claim.run_id);
    expect(await recover()).toBe(0);
    expect(await spool.list()).toEqual([]);
  });

  it("of a run in quarantine stays for as long as the quarantine lasts, and is stored afterwards", async () => {
    await crash();
    await expireLease();
    const operator = { tenant_id: claim.tenant_id, user_id: "olga", key_id: null };
    await quarantineOpenRun(database.db, operator, claim.run_id);
    // The file is as old as a leftover that is deleted.
    for (const name of readdirSync(spoolFolder())) utimesSync(join(spoolFolder(), name), 0, 0);
    expect(await recover()).toBe(0);
    expect(await spool.list()).toMatchObject([{ attempt: attemptOf(claim) }]);
    await retryOpenRun(database.db, operator, { run_id: claim.run_id, deadlineSeconds: 600 });
    expect(await recover()).toBe(1);
    expect((await stateOf()).state).toBe("succeeded");
    // It is in the queue, where the next test would claim it.
    await database.db.query("test.remove", "delete from open_runs where run_id = $1", [claim.run_id]);
  });

  it("of a run that is held back is left alone until its turn", async () => {
    await crash();
    await expireLease();
    let isHeld = true;
    const services = servicesWith();
    const suspects = { ...services.suspects, isHeldBack: async () => isHeld };
    expect(await recoverSpooledResponses({ ...services, suspects })).toBe(0);
    isHeld = false;
    expect(await recoverSpooledResponses({ ...services, suspects })).toBe(1);
  });

  it("of another database is left alone", async () => {
    const { response, offer } = { response: await fake.submit(""), offer: fake.offer };
    await spool.write({ ...attemptOf(claim), attempt_number: 9 }, { response, offer });
    expect([await recover(), (await spool.list()).length]).toEqual([0, 1]);
  });
});
