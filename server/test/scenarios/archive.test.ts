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
import { createS3Storage } from "../../src/storage/s3-storage.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { listLedgerViolations } from "../support/check-ledger.ts";
import { createPastRun, indexPastRuns, insertPastRuns, insertPrepaidTenant } from "../support/past-runs.ts";
import { S3_TEST_CREDENTIALS, startS3Server } from "../support/s3-server.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestDatabase } from "../support/test-database.ts";
import { startTestEnvironment } from "../support/test-environment.ts";

const DAY = 24 * 60 * 60 * 1000;
const CLI = join(import.meta.dirname, "../../../cli/src/main.ts");
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

async function createBucketSettings(): Promise<Record<string, string>> {
  const bucket = `archive-${Date.now()}`;
  const running = process.env.TEST_S3_ENDPOINT;
  const server = running
    ? { endpoint: running }
    : await startS3Server(mkdtempSync(join(tmpdir(), "gesso-radosgw-")), await freePort());
  if ("stop" in server) stops.push(server.stop as () => Promise<void>);
  const { endpoint } = server;
  const settings = { endpoint, region: "us-east-1", bucket, credentials: S3_TEST_CREDENTIALS, forcePathStyle: true };
  await createS3Storage(settings).ensureBucket();
  const { accessKeyId, secretAccessKey } = S3_TEST_CREDENTIALS;
  return {
    ...{ STORAGE: "s3", S3_ENDPOINT: endpoint, S3_BUCKET: bucket },
    ...{ S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey },
  };
}

it.each([
  ["a folder", async () => ({})],
  ["a bucket", createBucketSettings],
])(
  "old runs move to files in %s, and operators find them there",
  async (_, createSettings) => {
    const database = await startTestDatabase({ hasOwnServer: true });
    stops.push(database.stop);
    const tenant_id = v7();
    const [old, young] = [62, 0].map((days) => createPastRun({ tenant_id, created_at: Date.now() - days * DAY }));
    await insertPastRuns(database.owner, [old!, young!]);
    await insertPrepaidTenant(database.owner, tenant_id, [old!, young!]);
    await indexPastRuns(database.db);
    const env = { ARCHIVE_AFTER_DAYS: "30", ...(await createSettings()) };
    const environment = await startTestEnvironment({ databaseUrl: database.url, env });
    stops.push(environment.stop);

    const operator = createHttpCaller(environment);
    const find = async (query: string) => (await operator.get(`/admin/archive?${query}`)).body.data;
    await expect.poll(() => find(`run_id=${old!.run_id}`), { timeout: 30_000 }).toHaveLength(1);
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

    const cliEnv = { ...process.env, GESSO_URL: environment.url, GESSO_API_KEY: environment.key };
    const query = ["archive", "query", "--run-id", old!.run_id, "--json"];
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...query], { env: cliEnv });
    expect(JSON.parse(stdout).data).toMatchObject([{ run_id: old!.run_id }]);

    const { caller } = await createTestTenant(environment);
    expect((await caller.get(`/admin/archive?run_id=${old!.run_id}`)).status).toBe(403);
    const set = (archive_after_days: unknown) =>
      operator.send("PATCH", `/api/v1/tenants/${tenant_id}`, { body: { archive_after_days } });
    expect((await set(90)).body).toMatchObject({ archive_after_days: 90 });
    expect((await set(null)).body).toMatchObject({ archive_after_days: null });
    expect((await set(-1)).status).toBe(400);
  },
  240_000,
);
