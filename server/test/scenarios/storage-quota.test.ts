// The storage quota of a tenant, over HTTP against two API processes: uploads that race for the last bytes, runs,
// inline images, and what gives bytes back. `STORAGE_QUOTA_UPLOADS` sets the number of racing uploads.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { STORAGE_KEY } from "../../src/db/files/asset-key.ts";
import { findStorageMismatches } from "../../src/db/files/storage-check.ts";
import { type ApiCaller, type ApiResponse, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, type TenantOptions } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const UPLOADS = Number(process.env.STORAGE_QUOTA_UPLOADS ?? 200);
const QUICK = { prompt: "[sandbox:delay=0] a stored boat", width: 64, height: 64 };
const REFUSED = [403, "storage_quota_exceeded"];

let environment: TestEnvironment;
let image: Buffer;
beforeAll(async () => {
  environment = await startTestEnvironment({ apis: 2, env: { TENANT_STORED_FILES: "1000" } });
  image = await sharp({ create: { width: 24, height: 24, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
});
afterAll(() => environment?.stop());

const tenantWith = (limits: object, options: TenantOptions = {}) =>
  createTestTenant(environment, { ...options, tenant: { limits } });
const upload = (caller: ApiCaller, headers?: Record<string, string>): Promise<ApiResponse> => {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(image)], { type: "image/png" }), "image.png");
  return caller.post("/upload", form, headers);
};
const statusAndCode = ({ status, body }: ApiResponse) => [status, body.code];
const storageOf = async (caller: ApiCaller) => (await caller.get("/usage")).body.storage;
const objectsOf = (tenantId: string): number => {
  const folder = join(environment.storageDir, "objects", "t", tenantId);
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
};
/** The stored size of the image: metadata is removed and the image encoded again. */
async function storedBytes(): Promise<number> {
  const { caller } = await tenantWith({});
  await upload(caller);
  return (await storageOf(caller)).bytes;
}

describe("the storage quota", () => {
  it(`is never exceeded by ${UPLOADS} uploads at once, and refused files are not stored`, async () => {
    const size = await storedBytes();
    const limit = size * 20 + 1;
    const { tenant_id, key } = await tenantWith({ storage_bytes: limit });
    const callers = environment.urls.map((url) => createHttpCaller({ url, key }));
    const responses = await Promise.all(
      Array.from({ length: UPLOADS }, (_, index) => upload(callers[index % callers.length]!)),
    );
    const stored = responses.filter(({ status }) => status === 201);
    expect(stored).toHaveLength(20);
    for (const response of responses) if (response.status !== 201) expect(statusAndCode(response)).toEqual(REFUSED);
    expect(await storageOf(callers[0]!)).toEqual({
      ...{ bytes: size * 20, files: 20, bytes_limit: limit, files_limit: 1000 },
    });
    const [kept] = await environment.query(
      `select count(distinct ${STORAGE_KEY})::int as objects from assets where tenant_id = $1`,
      [tenant_id],
    );
    expect(objectsOf(tenant_id)).toBe(kept!.objects);
    expect(await findStorageMismatches(environment.databaseUrl)).toEqual([]);
  });

  it("refuses runs and uploads when it is used up, until a deleted run has given its bytes back", async () => {
    const { tenant_id, caller } = await tenantWith({ stored_files: 1 });
    const first = await upload(caller);
    const refused = await caller.generate(QUICK);
    expect(statusAndCode(refused)).toEqual(REFUSED);
    expect(refused.body.details).toMatchObject({ retryable: false, limits: { stored_files: 1 } });
    expect(statusAndCode(await upload(caller))).toEqual(REFUSED);
    const dataUrl = `data:image/png;base64,${image.toString("base64")}`;
    expect(statusAndCode(await caller.post("/edits/upscale", { image_url: dataUrl }))).toEqual(REFUSED);
    const [counted] = await environment.query(
      `select (select count(*) from runs where tenant_id = $1)::int as runs,
         (select count(*) from assets where tenant_id = $1 and role <> 'thumbnail')::int as assets,
         (select count(*) from staged_runs where tenant_id = $1 and run_id <> $2)::int as staged`,
      [tenant_id, first.body.data.run_id],
    );
    expect(counted).toEqual({ runs: 1, assets: 1, staged: 0 });
    await caller.delete(`/runs/${first.body.data.run_id}`);
    expect((await caller.generate(QUICK)).status).toBe(202);
  });

  it("lets a run that was accepted before store its result, and refuses the next one", async () => {
    const { caller } = await tenantWith({ storage_bytes: 1 });
    const accepted = await Promise.all([caller.generate(QUICK), caller.generate(QUICK)]);
    const ended = await Promise.all(accepted.map(({ body }) => caller.waitUntilEnded(body.run_id)));
    expect(ended.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect((await storageOf(caller)).bytes).toBeGreaterThan(1);
    expect(statusAndCode(await caller.generate(QUICK))).toEqual(REFUSED);
    expect(await findStorageMismatches(environment.databaseUrl)).toEqual([]);
  });

  it("refuses an inline image that would exceed it, and stores nothing of the request", async () => {
    const { tenant_id, caller } = await tenantWith({ storage_bytes: 10 });
    const dataUrl = `data:image/png;base64,${image.toString("base64")}`;
    expect(statusAndCode(await caller.post("/edits/upscale", { image_url: dataUrl }))).toEqual(REFUSED);
    expect(await storageOf(caller)).toMatchObject({ bytes: 0, files: 0 });
    expect(objectsOf(tenant_id)).toBe(0);
  });

  it("returns the first upload to concurrent requests with the same idempotency key that meet the full quota", async () => {
    const { caller } = await tenantWith({ stored_files: 1 });
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => upload(caller, { "idempotency-key": "the-same" })),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(responses.map(({ body }) => body.data.run_id)).size).toBe(1);
    expect(await storageOf(caller)).toMatchObject({ files: 1 });
  });

  it("can be changed by the operator, and not by a key of the tenant", async () => {
    const { tenant_id, caller } = await tenantWith({ stored_files: 1 });
    await upload(caller);
    const operator = createHttpCaller(environment);
    const path = `/api/v1/tenants/${tenant_id}`;
    const change = { body: { limits: { stored_files: 2 } } };
    expect((await caller.send("PATCH", path, change)).status).toBe(403);
    expect(
      statusAndCode(await caller.post("/keys", { name: "k", scopes: ["*"], limits: { stored_files: 2 } })),
    ).toEqual([...[400, "validation_error"]]);
    expect((await operator.send("PATCH", path, change)).body.limits).toEqual({ stored_files: 2 });
    expect((await upload(caller)).status).toBe(201);
    expect((await storageOf(caller)).files_limit).toBe(2);
  });
});
