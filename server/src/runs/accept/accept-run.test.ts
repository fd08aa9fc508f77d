// Accepting a run with inline images while PostgreSQL fails: images of an accepted run stay, all others are removed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestFiles,
  createTestProviders,
  SimulatedCrash,
  TENANT,
  type TestRuntime,
} from "../../../test/support/step-fixtures.ts";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { parseInput } from "../../contract/parse.ts";
import type { Caller } from "../../db/access/caller.ts";
import { connectDatabase, type Database } from "../../db/connect.ts";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import type { ObjectStorage } from "../../files/storage/object-storage.ts";
import { upscaleImage } from "../../operations/images/upscale.ts";
import { type RenderDependencies, renderRun } from "../show/render-run.ts";
import { stageInlineFiles, sweepStagedRuns } from "../sources/stage-inline-files.ts";
import { processOutboxLane } from "../upkeep/process-outbox.ts";
import { type AcceptDependencies, type AcceptedRun, acceptRun, type RunRequest } from "./accept-run.ts";

let database: TestDatabase;
let proxy: TcpProxy;
let proxied: Database;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

let folder: string;
let storage: ObjectStorage;
let runtime: TestRuntime;
let services: AcceptDependencies & RenderDependencies;
let queued: number;
const upscaler = createFakeProvider("upscaler", { task: "image.upscale", model: "upscale-default" });
beforeEach(async () => {
  await database.owner.query(
    "clean",
    "truncate runs, open_requests, open_runs, assets, storage_usage, outbox, staged_runs",
  );
  const url = new URL(database.url);
  proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  proxied = connectDatabase({ DATABASE_URL: url.href, DATABASE_POOL: 2 });
  folder = mkdtempSync(join(tmpdir(), "gesso-accept-"));
  storage = createDiskStorage(folder);
  runtime = createRuntime();
  queued = 0;
  const files = { ...createTestFiles(), storage } as never;
  const parts = { runtime, providers: createTestProviders([upscaler]), files };
  services = {
    ...createStepServices({ ...parts, database: proxied.forTenant(TENANT) }),
    notifications: { runQueued: () => void queued++ },
    logExhaustedBudget: () => {},
  } as unknown as AcceptDependencies & RenderDependencies;
  return async () => {
    await proxied.close();
    await proxy.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

const caller = { tenant_id: TENANT, user_id: "u", key_id: null, token: null, expires_at: null } as unknown as Caller;
const PIXEL = `data:image/png;base64,${Buffer.from("pixels".repeat(20)).toString("base64")}`;
const accept = (request: Partial<RunRequest> = {}) =>
  acceptRun(services, caller, {
    operation: upscaleImage,
    parsed: parseInput(upscaleImage, { image_url: PIXEL }, "json"),
    idempotencyKey: v7(),
    isStrict: false,
    ...request,
  });

/** Cuts the connection instead of forwarding what PostgreSQL answers to the statement that accepts the run. */
function swallowAcceptReply() {
  let isAccepting = false;
  proxy.onRequest((data) => {
    if (data.includes("runs.accept@")) isAccepting = true;
  });
  proxy.swallowResponse(() => isAccepting);
}
const count = async (table: string) =>
  (await database.db.query<{ n: number }>(`test.count.${table}`, `select count(*)::int as n from ${table}`))[0]!.n;
async function countObjects() {
  let objects = 0;
  for await (const _ of storage.list("t/")) objects++;
  return objects;
}
/** What is stored of staged images: rows and objects. */
const stagedFiles = async () => ({ rows: await count("assets"), objects: await countObjects() });
/** One duty round, an hour and a minute after everything that was staged so far. */
async function sweepLater() {
  const age = "update staged_runs set staged_at = staged_at - interval '61 minutes'";
  await database.owner.query("test.age", age);
  const swept = await sweepStagedRuns({ ...runtime, database: database.db });
  await processOutboxLane({ ...services, database: database.db } as never, { exceptCancelsAt: [] });
  return swept;
}

describe("a run with an inline image", () => {
  it("is accepted, and its images stay, although the reply to COMMIT is lost", async () => {
    swallowAcceptReply();
    const { row, isReplay } = await accept();
    expect([await count("runs"), isReplay, queued]).toEqual([1, false, 1]);
    expect(row.status).toBe("queued");
    expect(await stagedFiles()).toEqual({ rows: 1, objects: 1 });
    await sweepLater();
    expect(await stagedFiles()).toEqual({ rows: 1, objects: 1 });
    expect(await count("staged_runs")).toBe(0);
  });

  it("keeps its images if the reply to COMMIT is lost and PostgreSQL cannot be asked afterwards", async () => {
    swallowAcceptReply();
    proxy.onRequest((data) => {
      if (data.includes("runs.accept@")) setTimeout(() => proxy.refuse(true), 0);
    });
    await expect(accept()).rejects.toMatchObject({ code: "dependency_unavailable" });
    proxy.refuse(false);
    expect(await count("runs")).toBe(1);
    expect(await stagedFiles()).toEqual({ rows: 1, objects: 1 });
    await sweepLater();
    expect(await stagedFiles()).toEqual({ rows: 1, objects: 1 });
  });

  it("keeps its images if the process fails after the run was accepted", async () => {
    runtime.crashAt = "committed";
    await expect(accept()).rejects.toThrow(SimulatedCrash);
    expect(await count("runs")).toBe(1);
    expect(await stagedFiles()).toEqual({ rows: 1, objects: 1 });
  });

  it("that is refused leaves no image behind", async () => {
    services = { ...services, providers: createTestProviders([]) };
    await expect(accept()).rejects.toMatchObject({ code: "model_unavailable" });
    expect(await stagedFiles()).toEqual({ rows: 0, objects: 0 });
    expect(await count("staged_runs")).toBe(0);
  });

  it("that PostgreSQL refused with an error leaves no image behind", async () => {
    const constraint = "alter table runs add constraint test_refusal check (operation <> 'images.upscale')";
    await database.owner.query("test.refuse", constraint);
    await expect(accept()).rejects.toMatchObject({ code: "23514" });
    await database.owner.query("test.allow", "alter table runs drop constraint test_refusal");
    expect(await stagedFiles()).toEqual({ rows: 0, objects: 0 });
  });
});

it("a run shows what the caller set, apart from defaults", async () => {
  const raw = { image_url: PIXEL, factor: 4, metadata: { a: 1 } };
  const { row } = await accept({ parsed: parseInput(upscaleImage, raw, "json") });
  const { inputs, given } = renderRun(services, row);
  const { image_url, ...rest } = given!;
  expect(rest).toEqual({ factor: 4, metadata: { a: 1 } });
  expect(image_url).toEqual(inputs.image_url);
  expect(Object.keys(inputs).length).toBeGreaterThan(Object.keys(rest).length);
});

it("a run names the operation that created it", async () => {
  const { row } = await accept();
  expect(renderRun(services, row)).toMatchObject({ operation: "images.upscale", run_type: "upscale" });
});

describe("a run of a tenant whose storage quota is used up", () => {
  it("is refused before its image is stored", async () => {
    await accept();
    const refused = accept({ storageLimits: { files: 1 } });
    await expect(refused).rejects.toMatchObject({ code: "storage_quota_exceeded" });
    expect([await count("runs"), await count("staged_runs")]).toEqual([1, 1]);
    expect(await stagedFiles()).toEqual({ rows: 1, objects: 1 });
  });

  it("is the replay of a concurrent request with the same idempotency key that used it up", async () => {
    const idempotencyKey = v7();
    let first: AcceptedRun | undefined;
    // Called after the first look-up of the key, as if the other request was accepted in that moment.
    const consumeRateLimit = async () => {
      first = await accept({ idempotencyKey });
    };
    const second = await accept({ idempotencyKey, consumeRateLimit, storageLimits: { files: 1 } });
    expect([second.row.run_id, second.isReplay]).toEqual([first!.row.run_id, true]);
    expect(await count("runs")).toBe(1);
  });
});

describe("images of a process that was killed between staging and acceptance", () => {
  beforeEach(async () => {
    const run = { ...caller, run_id: runtime.ids.next() };
    await stageInlineFiles(services, run, parseInput(upscaleImage, { image_url: PIXEL }, "json"));
  });

  it("stay for an hour, because the request may still be in progress", async () => {
    expect(await sweepStagedRuns({ ...runtime, database: database.db })).toBe(0);
    expect(await stagedFiles()).toEqual({ rows: 1, objects: 1 });
  });

  it("are deleted afterwards, with their rows", async () => {
    expect(await sweepLater()).toBe(1);
    expect(await stagedFiles()).toEqual({ rows: 0, objects: 0 });
    expect(await sweepLater()).toBe(0);
  });
});
