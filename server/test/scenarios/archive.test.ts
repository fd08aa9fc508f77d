// The archive of a running Gesso, on disk and in a bucket: the duty moves old runs, and operators find them through the
// API and the command line.
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@gesso/dev/components";
import { v7 } from "uuid";
import { afterAll, expect, it } from "vitest";
import { createDiskStorage } from "../../src/files/storage/disk-storage.ts";
import type { ObjectStorage } from "../../src/files/storage/object-storage.ts";
import { createS3Storage } from "../../src/files/storage/s3-storage.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { listLedgerViolations } from "../support/check-ledger.ts";
import { createPastRun, indexPastRuns, insertPastRuns, insertPrepaidTenant, listKeys } from "../support/past-runs.ts";
import { S3_TEST_CREDENTIALS, startS3Server } from "../support/s3-server.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestDatabase } from "../support/test-database.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const DAY = 24 * 60 * 60 * 1000;
const CLI = join(import.meta.dirname, "../../../cli/src/main.ts");
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

type Place = { env: Record<string, string>; open(environment: TestEnvironment): ObjectStorage };

const useFolder = async (): Promise<Place> => ({ env: {}, open: ({ storageDir }) => createDiskStorage(storageDir) });

async function useBucket(): Promise<Place> {
  const bucket = `archive-${Date.now()}`;
  const running = process.env.TEST_S3_ENDPOINT;
  const server = running
    ? { endpoint: running }
    : await startS3Server(mkdtempSync(join(tmpdir(), "gesso-radosgw-")), await freePort());
  if ("stop" in server) stops.push(server.stop as () => Promise<void>);
  const { endpoint } = server;
  const settings = { endpoint, region: "us-east-1", bucket, credentials: S3_TEST_CREDENTIALS, forcePathStyle: true };
  const storage = createS3Storage(settings);
  await storage.ensureBucket();
  const { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY } = S3_TEST_CREDENTIALS;
  const env = { STORAGE: "s3", S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY };
  return { env, open: () => storage };
}

it.each([
  ["a folder", useFolder],
  ["a bucket", useBucket],
])(
  "old runs move to files in %s, operators find them there, and they go with the tenant",
  async (_, usePlace) => {
    const database = await startTestDatabase({ hasOwnServer: true });
    stops.push(database.stop);
    const tenant_id = v7();
    const [old, young] = [62, 0].map((days) => createPastRun({ tenant_id, created_at: Date.now() - days * DAY }));
    await insertPastRuns(database.owner, [old!, young!]);
    await insertPrepaidTenant(database.owner, tenant_id, [old!, young!]);
    await indexPastRuns(database.db);
    const place = await usePlace();
    const env = { ARCHIVE_AFTER_DAYS: "30", ...place.env };
    const environment = await startTestEnvironment({ databaseUrl: database.url, env });
    stops.push(environment.stop);

    const operator = createHttpCaller(environment);
    const grant = { name: "break glass", scopes: ["tenants:*", "content:read"] };
    const { key } = (await operator.post("/keys", grant)).body;
    const reader = createHttpCaller({ url: environment.url, key });
    const find = async (query: string) => (await reader.get(`/admin/archive?reason=ticket&${query}`)).body.data;
    await expect.poll(() => find(`run_id=${old!.run_id}`)).toHaveLength(1);
    const day = new Date(old!.created_at).toISOString().slice(0, 10);
    const [found] = await find(`tenant_id=${tenant_id}&day=${day}`);
    expect(found).toMatchObject({ run_id: old!.run_id, tenant_id, record: { inputs: { prompt: "a harbour" } } });
    expect(await find(`tenant_id=${tenant_id}&after=${old!.run_id}`)).toEqual([]);
    expect(await find(`run_id=${young!.run_id}`)).toEqual([]);
    expect(await environment.query("select run_id from runs where tenant_id = $1", [tenant_id])).toEqual([
      { run_id: young!.run_id },
    ]);
    expect(await listLedgerViolations(environment)).toEqual([]);
    const entries = await environment.query("select action, subject from audit_log where tenant_id = $1", [tenant_id]);
    expect(entries).toContainEqual({ action: "admin.queryArchive", subject: old!.run_id });

    const cliEnv = { ...process.env, GESSO_URL: environment.url, GESSO_API_KEY: key };
    const query = ["archive", "query", "--reason", "ticket", "--run-id", old!.run_id, "--json"];
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...query], { env: cliEnv });
    expect(JSON.parse(stdout).data).toMatchObject([{ run_id: old!.run_id }]);

    const { caller } = await createTestTenant(environment);
    expect((await caller.get(`/admin/archive?run_id=${old!.run_id}`)).status).toBe(403);
    const set = (archive_after_days: unknown) =>
      operator.send("PATCH", `/api/v1/tenants/${tenant_id}`, { body: { archive_after_days } });
    expect((await set(90)).body).toMatchObject({ archive_after_days: 90 });
    expect((await set(null)).body).toMatchObject({ archive_after_days: null });
    expect((await set(-1)).status).toBe(400);

    const keys = () => listKeys(place.open(environment), `t/${tenant_id}/`);
    expect(await keys()).toEqual([found.file]);
    await operator.send("PATCH", `/api/v1/tenants/${tenant_id}`, { body: { suspended: true } });
    await operator.post(`/tenants/${tenant_id}/deletion`, { confirm: "x" });
    const deletion = async () => (await operator.get(`/tenants/${tenant_id}/deletion`)).body;
    await expect.poll(async () => (await deletion()).state, { interval: 500 }).toBe("completed");
    expect(await deletion()).toMatchObject({ deleted_rows: { archive_batches: 1, archived_transfers: 3 } });
    expect(await keys()).toEqual([]);
  },
  240_000,
);
