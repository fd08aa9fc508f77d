// What is deleted or has had its time is gone: its address at once, its bytes within a minute, from a folder and from a
// bucket alike.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@gesso/dev/components";
import { afterAll, describe, expect, it } from "vitest";
import { STORAGE_KEY } from "../../src/db/files/asset-key.ts";
import { createDiskStorage } from "../../src/files/storage/disk-storage.ts";
import type { ObjectStorage } from "../../src/files/storage/object-storage.ts";
import { createS3Storage } from "../../src/files/storage/s3-storage.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { S3_TEST_CREDENTIALS, startS3Server } from "../support/s3-server.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
type Place = { world: TestEnvironment; storage: ObjectStorage };

const onDisk = async (): Promise<Place> => {
  const environment = await startTestEnvironment({ env: { RETENTION_DAYS: "7" } });
  stops.push(environment.stop);
  return { world: environment, storage: createDiskStorage(environment.storageDir) };
};

const inBucket = async (): Promise<Place> => {
  const bucket = `retention-${Date.now()}`;
  const running = process.env.TEST_S3_ENDPOINT;
  const server = running
    ? { endpoint: running }
    : await startS3Server(mkdtempSync(join(tmpdir(), "gesso-radosgw-")), await freePort());
  if ("stop" in server) stops.push(server.stop as () => Promise<void>);
  const { endpoint } = server;
  const storage = createS3Storage({
    endpoint,
    region: "us-east-1",
    bucket,
    credentials: S3_TEST_CREDENTIALS,
    forcePathStyle: true,
  });
  await storage.ensureBucket();
  const { accessKeyId, secretAccessKey } = S3_TEST_CREDENTIALS;
  const keys = { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey };
  const env = { RETENTION_DAYS: "7", STORAGE: "s3", S3_ENDPOINT: endpoint, S3_BUCKET: bucket, ...keys };
  const environment = await startTestEnvironment({ env });
  stops.push(environment.stop);
  return { world: environment, storage };
};

describe.each([
  ["a folder", onDisk],
  ["a bucket", inBucket],
])("in %s", (_, start) => {
  it("files are kept as long as promised and removed within a minute; so are those of a deleted run", async () => {
    const { world: environment, storage } = await start();
    const caller = createHttpCaller(environment);
    const make = async (prompt: string) => {
      const { body } = await caller.generate({ prompt, width: 64, height: 64, sync: true });
      const [row] = await environment.query<{ storage_key: string }>(
        `select ${STORAGE_KEY} as storage_key from assets where run_id = $1`,
        [body.run_id],
      );
      return { ...body, key: row!.storage_key };
    };
    const status = async (url: string) => (await fetch(url)).status;
    const isStored = async (key: string) => (await storage.head(key)) !== undefined;
    const [expiring, deleted, stored] = [await make("one"), await make("two"), await make("three")];
    for (const run of [expiring, deleted, stored]) {
      expect(Date.parse(run.expires_at) - Date.parse(run.finished_at)).toBe(7 * DAY);
      expect([await status(run.image_url), await isStored(run.key)]).toEqual([200, true]);
    }

    await caller.delete(`/runs/${deleted.run_id}`);
    expect(await status(deleted.image_url)).toBe(410);
    await environment.query("update runs set expires_at = now() where run_id = $1", [expiring.run_id]);
    await environment.query("update expiring_runs set expires_at = now() where run_id = $1", [expiring.run_id]);
    await expect.poll(() => isStored(deleted.key)).toBe(false);
    await expect.poll(() => status(expiring.image_url)).toBe(410);
    await expect.poll(() => isStored(expiring.key)).toBe(false);

    expect(await (await fetch(expiring.image_url)).json()).toMatchObject({ code: "asset_expired" });
    expect((await caller.get(`/runs/${expiring.run_id}`)).body).toMatchObject({ status: "completed" });
    const again = await caller.post("/edits/vendora", { prompt: "x", run_id: expiring.run_id });
    expect([again.status, again.body.code]).toEqual([410, "asset_expired"]);
    expect([await status(stored.image_url), await isStored(stored.key)]).toEqual([200, true]);
  });
});

it("the retention of a tenant's files is set by the operator, and a change applies to runs that end after it", async () => {
  const { world: environment } = await onDisk();
  const operator = createHttpCaller(environment);
  const { tenant_id, caller } = await createTestTenant(environment);
  const keeps = async () => {
    const { body } = await caller.generate({ prompt: "a hill", width: 64, height: 64, sync: true });
    return body.expires_at && Date.parse(body.expires_at) - Date.parse(body.finished_at);
  };
  const say = async (retention_days: unknown) => {
    const { status, body } = await operator.send("PATCH", `/api/v1/tenants/${tenant_id}`, { body: { retention_days } });
    return [status, body.retention_days ?? body.code ?? null];
  };
  expect(await keeps()).toBe(7 * DAY);
  expect(await say(1)).toEqual([200, 1]);
  expect(await keeps()).toBe(DAY);
  expect(await say(0)).toEqual([200, 0]);
  expect(await keeps()).toBe(null);
  expect(await say(null)).toEqual([200, null]);
  expect(await keeps()).toBe(7 * DAY);
  for (const bad of [-1, 0.5, 36_501, "7"]) expect(await say(bad)).toEqual([400, "validation_error"]);
  const made = await operator.post("/tenants", { name: "Short", retention_days: 2 });
  expect([made.status, made.body.retention_days]).toEqual([201, 2]);
  // A tenant cannot extend its own retention.
  const own = await caller.send("PATCH", `/api/v1/tenants/${tenant_id}`, { body: { retention_days: 0 } });
  expect(own.status).toBe(403);
});
