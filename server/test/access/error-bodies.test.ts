// What callers read of a failure: a code of the catalogue and its message, and nothing of the cause. Faults are
// injected into the database and thrown through the whole HTTP API.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Fault, type FaultCode, faults } from "../../src/faults/faults.ts";
import { providerFault } from "../../src/providers/call-provider.ts";
import { sendOverHttp } from "../support/api-caller.ts";
import { createTestTenant, type TestTenant } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestApi, type TestApi } from "./isolation.ts";

/** Stack frames, paths, SQL, error codes of the system, addresses, buckets, keys of providers, and the canary. */
const FORBIDDEN =
  /\.ts:\d|\bat \w+ \(|\/(app|home|tmp|usr|var)\/|\b(select|insert|update|delete)\b .*\b(from|into|set)\b|ECONN|ENOENT|EACCES|ETIMEDOUT|\b(10|127|192\.168)\.\d+\.\d+|\.internal\b|s3:\/\/|gesso-bucket|sk-[a-z0-9]|fal_|r8_|postgres:|relation "|Quixotina/i;

const databaseError = (code: string, message: string) =>
  Object.assign(new pg.DatabaseError(message, 1, "error"), { code, severity: "ERROR", detail: "Key (x)=(Quixotina)" });
const systemError = (code: string, message: string) => Object.assign(new Error(message), { code });

const CAUSES: [string, () => unknown][] = [
  ["a missing table", () => databaseError("42P01", 'relation "secrets" does not exist')],
  ["a value", () => databaseError("22P02", 'invalid input syntax for type uuid: "Quixotina"')],
  ["a duplicate", () => databaseError("23505", "duplicate key value violates unique constraint")],
  ["a refused connection", () => systemError("ECONNREFUSED", "connect ECONNREFUSED 10.0.3.7:5432")],
  ["a missing file", () => systemError("ENOENT", "ENOENT: no such file, open '/var/lib/gesso/t/1/r/2'")],
  ["a bucket", () => new Error("NoSuchBucket s3://gesso-bucket/t at minio.internal:9000")],
  ["a bug", () => new TypeError("Cannot read properties of undefined (reading 'Quixotina')")],
  ["SQL", () => new Error("select digest from api_keys where digest = 'Quixotina'")],
  ["text of a provider", () => providerFault("provider_error", { kind: "failed", cause: "Quixotina sk-abc123" })],
  ["a refusal", () => providerFault("content_refused", { kind: "refused", cause: { message: "Quixotina" } })],
  ["a fault with a cause", () => new Fault("dependency_unavailable", {}, { cause: new Error("10.0.3.7 Quixotina") })],
  ["a string", () => "postgres://gesso:Quixotina@10.0.3.7/gesso"],
];
const REQUESTS: [string, string, object?][] = [
  ["GET", "/api/v1/runs"],
  ["GET", `/api/v1/runs/${v7()}`],
  ["POST", "/api/v1/runs/generate", { prompt: "Quixotina", width: 64, height: 64 }],
  ["POST", "/api/v1/prompts", { name: "n", text: "Quixotina" }],
  ["DELETE", `/api/v1/models/${v7()}`],
];

let [database, api, ann] = [] as unknown as [TestDatabase, TestApi, TestTenant];
let injected: (() => unknown) | undefined;
let thrownCount = 0;
const storage = mkdtempSync(join(tmpdir(), "gesso-errors-"));

beforeAll(async () => {
  database = await startTestDatabase();
  const query = (text: string, values?: unknown[]) =>
    database.owner.query(`test.${text.length}`, text, values) as never;
  ann = await createTestTenant({ url: "", query }, { user_id: "ann" });
  api = await startTestApi(database, { STORAGE_DIR: storage, REQUESTS_PER_MINUTE: "100000" }, (db) => {
    const failing: typeof db = {
      ...db,
      forTenant: (tenantId) => {
        const scoped = db.forTenant(tenantId);
        return { ...scoped, execute: (...args) => (injected ? fail() : scoped.execute(...args)) };
      },
      execute: (...args) => (injected ? fail() : db.execute(...args)),
    };
    return failing;
  });
});
afterAll(async () => {
  await api?.close();
  await database?.stop();
  rmSync(storage, { recursive: true, force: true });
});

const fail = async (): Promise<never> => {
  thrownCount++;
  throw injected!();
};

it(`${CAUSES.length * REQUESTS.length} injected faults return a code of the catalogue, its message, and nothing of the cause`, async () => {
  expect(CAUSES.length * REQUESTS.length).toBe(60);
  const send = sendOverHttp({ url: api.url, key: ann.key });
  expect((await send("GET", "/api/v1/runs")).status).toBe(200);
  const found: unknown[] = [];
  for (const [cause, makeError] of CAUSES) {
    for (const [method, path, body] of REQUESTS) {
      const before = thrownCount;
      injected = makeError;
      const response = await send(method, path, { ...(body && { body }) });
      injected = undefined;
      expect([cause, path, thrownCount > before]).toEqual([cause, path, true]);
      const { code, message, details } = response.body as { code: FaultCode; message: string; details: object };
      const isFromCatalogue = faults[code]?.message === message && faults[code].status === response.status;
      const isDetailed = Object.keys(details).some((name) => !["request_id", "retryable", "by"].includes(name));
      const text = JSON.stringify([response.body, [...response.headers]]);
      if (!isFromCatalogue || isDetailed || FORBIDDEN.test(text)) found.push([cause, path, response.status, text]);
    }
  }
  expect(found).toEqual([]);
});
