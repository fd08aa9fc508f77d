// A response that was paid for becomes the result of its run while storage, PostgreSQL and workers fail. PostgreSQL,
// disk and S3 are real; they fail through their sockets and directories.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@gesso/dev/components";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../../test/support/database-clock.ts";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { S3_TEST_CREDENTIALS, type S3Server, startS3Server } from "../../../test/support/s3-server.ts";
import {
  claimRun,
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestFiles,
  createTestProviders,
  done,
  type FakeProvider,
  requestTo,
  requeue,
  sha256,
  type TestRuntime,
} from "../../../test/support/step-fixtures.ts";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { until } from "../../../test/support/until.ts";
import { findLatestAttempt } from "../../db/attempts/attempts.ts";
import { connectDatabase, type Database } from "../../db/connect.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { Fault } from "../../faults/faults.ts";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import type { ObjectStorage } from "../../files/storage/object-storage.ts";
import { createS3Storage } from "../../files/storage/s3-storage.ts";
import { FREE } from "../../prices/price.ts";
import type { JobProgress, Offer } from "../../providers/provider.ts";
import type { SubmitResult } from "../steps.ts";
import { recoverSpooledResponses } from "./recover-spool.ts";
import { createResponseSpool, type ResponseSpool } from "./response-spool.ts";
import { submit } from "./submit.ts";

/** The pauses between attempts to save a response. */
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 2000;

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await startTestDatabase();
  folder = mkdtempSync(join(tmpdir(), "gesso-save-"));
});
afterAll(async () => {
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

let runtime: TestRuntime;
let fake: FakeProvider;
let providers: ReturnType<typeof createTestProviders>;
let claim: RunClaim;
let spool: ResponseSpool;
let woken: string[];
let spoolNumber = 0;
const openSpool = () =>
  createResponseSpool({ SPOOL_DIR: join(folder, `spool-${++spoolNumber}`), SPOOL_MEGABYTES: 10 }, runtime);

/** A run at a provider that responds with its image. A lease lasts thirty seconds. */
const prepare = async (offer: Partial<Offer>) => {
  runtime = createRuntime({ submitSeconds: 25 });
  fake = createFakeProvider("fake", { synchronousSeconds: 60, ...offer });
  fake.submit = async () => done("pixels");
  providers = createTestProviders([fake]);
  claim = await claimRun(database.db);
  spool = openSpool();
  woken = [];
};
beforeEach(() => prepare({ recovery: "none" }));
/** The pauses between attempts to save a response then pass when the test says so. */
const useManualClock = () => {
  const clock = createManualClock();
  runtime.clock = clock;
  providers = createTestProviders([fake], clock);
  return clock;
};

type Parts = { db?: Database; storage?: ObjectStorage; spoolOf?: ResponseSpool };
const servicesWith = ({ db = database.db, storage, spoolOf = spool }: Parts = {}) => {
  const files = { ...createTestFiles(), ...(storage && { storage }) } as ReturnType<typeof createTestFiles>;
  const services = createStepServices({ database: db, runtime, providers, files, spool: spoolOf });
  const notifications = { resolveWakeup: async (id: string) => void woken.push(id) };
  return { ...services, notifications: { ...services.notifications, ...notifications } };
};
const submitWith = (parts: Parts = {}, as = claim): Promise<SubmitResult> =>
  submit(servicesWith(parts), as, requestTo(fake), { attemptNumber: 1, wakeupId: "wakeup" });
const recover = (parts: Parts = {}) => recoverSpooledResponses(servicesWith(parts));
const stateOf = async () => (await findLatestAttempt(database.db, claim.run_id, 0))!;
const PRODUCED = { state: "produced", files: [{ sha256: sha256("pixels") }] };
/** As if the time of the lease had passed. */
const expireLease = () =>
  database.db.query("test.expire", "update attempts set lease_until = now() where run_id = $1", [claim.run_id]);

async function connectThroughProxy(): Promise<{ proxy: TcpProxy; db: Database }> {
  const url = new URL(database.url);
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  return { proxy, db: connectDatabase({ DATABASE_URL: url.href, DATABASE_POOL: 2 }) };
}
const withProxy = async (test: (proxy: TcpProxy, db: Database) => Promise<void>) => {
  const { proxy, db } = await connectThroughProxy();
  try {
    await test(proxy, db);
  } finally {
    await db.close();
    await proxy.close();
  }
};
/** Cuts the connection instead of forwarding what PostgreSQL answers to this statement. */
const swallowReply = (proxy: TcpProxy, statement: string) => {
  let isSent = false;
  proxy.onRequest((data) => {
    if (data.includes(statement)) isSent = true;
  });
  proxy.swallowResponse(() => isSent);
};

describe("a result whose storage fails for seconds", () => {
  let server: (S3Server & { stop?: () => Promise<void> }) | undefined;
  afterAll(async () => void (await server?.stop?.()));

  it("is stored when the directory is back, and the lease is held meanwhile", async () => {
    const directory = join(folder, "disk");
    const storage = createDiskStorage(directory);
    await storage.put("t/first", Buffer.from("x"), "text/plain");
    renameSync(directory, `${directory}.away`);
    writeFileSync(directory, "not a directory");
    const clock = useManualClock();
    const own = await startTestDatabase();
    await installDatabaseClock(own);
    const db = connectOnClock(own, clock);
    claim = await claimRun(db);
    const submitting = submitWith({ db, storage });
    await clock.waitForTimer(FIRST_RETRY_MS);
    // Longer than the lease lasts without a renewal, which is a second.
    await clock.advance(5000);
    expect(await submitWith({ db })).toMatchObject({ state: "wait", attemptNumber: 1 });
    rmSync(directory);
    renameSync(`${directory}.away`, directory);
    await clock.advance(MAX_RETRY_MS);
    expect(await submitting).toMatchObject(PRODUCED);
    const { state } = (await findLatestAttempt(db, claim.run_id, 0))!;
    expect([fake.submissions.length, state]).toEqual([1, "succeeded"]);
    await db.close();
    await own.stop();
    expect(await spool.list()).toEqual([]);
  });

  it("fails its run with the reason if the run reaches its deadline before", async () => {
    claim = await claimRun(database.db, { deadlineSeconds: 0 });
    const full = new Fault("storage_failed", { reason: "disk_full" });
    const storage = { put: () => Promise.reject(full) } as unknown as ObjectStorage;
    expect(await submitWith({ storage })).toEqual({
      state: "not_stored",
      fault: { code: "storage_failed", details: { reason: "disk_full" } },
    });
    expect(runtime.messages.join()).toContain("could not be stored before the deadline");
    expect(fake.submissions).toHaveLength(1);
  });

  it("is stored when the S3 server is back", async () => {
    const running = process.env.TEST_S3_ENDPOINT;
    server = running
      ? { endpoint: running, ...S3_TEST_CREDENTIALS }
      : await startS3Server(join(folder, "rgw"), await freePort());
    const proxy = await startTcpProxy(Number(new URL(server.endpoint).port));
    const endpoint = `http://127.0.0.1:${proxy.port}`;
    const storage = createS3Storage({
      ...{ endpoint, region: "us-east-1", bucket: `gesso-${claim.run_id.slice(-12)}`, forcePathStyle: true },
      credentials: S3_TEST_CREDENTIALS,
    });
    await storage.ensureBucket();
    proxy.refuse(true);
    proxy.cut();
    const submitting = submitWith({ storage });
    await until(() => runtime.messages.includes("saving a paid response failed; it is retried"));
    expect((await stateOf()).state).toBe("intent");
    proxy.refuse(false);
    expect(await submitting).toMatchObject(PRODUCED);
    const [file] = ((await submitting) as Extract<SubmitResult, { state: "produced" }>).files;
    const key = `t/${claim.tenant_id}/r/${claim.run_id}/${file!.sha256}`;
    expect(Buffer.from((await storage.bytes(key))!).toString()).toBe("pixels");
    expect(fake.submissions).toHaveLength(1);
    await proxy.close();
  });
});

describe("a result whose COMMIT has no reply", () => {
  it.each<[string, Partial<Offer>]>([
    ["fails on unknown outcomes", { recovery: "none" }],
    ["may be submitted again", { recovery: "none", on_unknown: "resubmit" }],
    ["works in this process", { recovery: "free", price: FREE }],
  ])("is the result of the run, at a provider that %s", async (_, offer) => {
    await prepare(offer);
    await withProxy(async (proxy, db) => {
      swallowReply(proxy, "attempts.save_output");
      expect(await submitWith({ db })).toMatchObject(PRODUCED);
    });
    expect(await submitWith()).toMatchObject(PRODUCED);
    expect([fake.submissions.length, (await stateOf()).state]).toEqual([1, "succeeded"]);
  });

  it.each<[string, Partial<Offer>]>([
    ["may be submitted again", { recovery: "none", on_unknown: "resubmit" }],
    ["works in this process", { recovery: "free", price: FREE }],
  ])("is found by the next worker if this one dies then, at a provider that %s", async (_, offer) => {
    await prepare(offer);
    expect(await submitWith()).toMatchObject(PRODUCED);
    expect(await submitWith({ spoolOf: openSpool() })).toMatchObject(PRODUCED);
    const later = await requeue(database.db, claim);
    expect(await submitWith({ spoolOf: openSpool() }, later)).toMatchObject(PRODUCED);
    expect(fake.submissions).toHaveLength(1);
  });

  it("repeats a claim whose COMMIT has no reply, because nothing was sent", async () => {
    await withProxy(async (proxy, db) => {
      swallowReply(proxy, "attempts.claim");
      expect(await submitWith({ db })).toMatchObject(PRODUCED);
    });
    expect(fake.submissions).toHaveLength(1);
  });
});

it("a run that is requeued while its request is in flight waits for the response, and gets it from the spool", async () => {
  const clock = useManualClock();
  const own = await startTestDatabase();
  await installDatabaseClock(own);
  const db = connectOnClock(own, clock);
  claim = await claimRun(db);
  const response = Promise.withResolvers<JobProgress>();
  fake.submit = () => response.promise;
  const submitting = submitWith({ db });
  await until(() => fake.submissions.length === 1);
  const later = await requeue(db, claim);
  const elsewhere = { db, spoolOf: openSpool() };
  // Several times as long as the lease lasts without a renewal.
  await clock.advance(120_000);
  expect(await submitWith(elsewhere, later)).toMatchObject({ state: "wait", attemptNumber: 1 });
  response.resolve(done("pixels"));
  expect(await submitting).toEqual({ state: "claim_lost" });
  await clock.advance(1);
  expect(await recover({ db })).toBe(1);
  expect(await submitWith(elsewhere, later)).toMatchObject(PRODUCED);
  expect([fake.submissions.length, (await spool.list()).length]).toEqual([1, 0]);
  await db.close();
  await own.stop();
});

it("a response that was lost for certain is not waited for on another machine", async () => {
  fake.submit = () => Promise.reject(new Error("socket hang up"));
  expect(await submitWith()).toMatchObject({ state: "wait", delaySeconds: 1 });
  await expect(submitWith({ spoolOf: openSpool() })).rejects.toMatchObject({ code: "provider_outcome_unknown" });
});

it("a result is stored although the spool cannot be written", async () => {
  writeFileSync(join(folder, "file"), "");
  const broken = createResponseSpool({ SPOOL_DIR: join(folder, "file", "spool"), SPOOL_MEGABYTES: 10 }, runtime);
  const unwritable = { ...broken, id: spool.id, read: spool.read };
  expect(await submitWith({ spoolOf: unwritable })).toMatchObject(PRODUCED);
  expect(runtime.messages).toContain("a paid response could not be spooled");
});

describe("a ticket", () => {
  beforeEach(async () => {
    await prepare({ recovery: "none" });
    fake.submit = async (key) => ({ state: "running", ticket: { job: key } });
  });
  const TICKET = () => ({ state: "submitted", ticket: { job: `${claim.run_id}.0.1` } });

  it("is saved before the success of the offer is recorded, and although that fails", async () => {
    let ticketThen: unknown;
    providers.circuitBreaker.recordSuccess = async () => {
      ticketThen = (await stateOf()).ticket;
      throw new Fault("dependency_unavailable");
    };
    expect(await submitWith()).toEqual({ state: "running", attemptNumber: 1, ticket: expect.any(Object) });
    expect([ticketThen, await stateOf()]).toEqual([TICKET().ticket, expect.objectContaining(TICKET())]);
  });

  it("is saved when PostgreSQL is back", async () => {
    await withProxy(async (proxy, db) => {
      const clock = useManualClock();
      fake.submit = async (key) => {
        proxy.refuse(true);
        proxy.cut();
        return { state: "running", ticket: { job: key } };
      };
      const submitting = submitWith({ db });
      await clock.waitForTimer(FIRST_RETRY_MS);
      await clock.advance(FIRST_RETRY_MS);
      await clock.waitForTimer(2 * FIRST_RETRY_MS);
      proxy.refuse(false);
      await clock.advance(2 * FIRST_RETRY_MS);
      expect(await submitting).toEqual({ state: "running", attemptNumber: 1, ticket: expect.any(Object) });
    });
    expect(await stateOf()).toMatchObject(TICKET());
    expect([fake.submissions.length, (await spool.list()).length]).toEqual([1, 0]);
  });

  it("is adopted from the spool if its worker died while PostgreSQL was away", async () => {
    await withProxy(async (proxy, db) => {
      fake.submit = async (key) => {
        proxy.refuse(true);
        proxy.cut();
        return { state: "running", ticket: { job: key } };
      };
      // As if the process died: it gives up at once.
      runtime.settings = { ...runtime.settings, timeouts: { ...runtime.settings.timeouts, deadlineSeconds: 0 } };
      await expect(submitWith({ db })).rejects.toMatchObject({ code: "dependency_unavailable" });
    });
    expect((await stateOf()).ticket).toBeNull();
    await expireLease();
    expect(await submitWith()).toEqual({
      state: "running",
      attemptNumber: 1,
      ticket: expect.any(Object),
      offer: fake.offer,
    });
    expect(await stateOf()).toMatchObject(TICKET());
    expect(fake.submissions).toHaveLength(1);
  });
});
