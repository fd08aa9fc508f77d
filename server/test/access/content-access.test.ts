// Break-glass access of the operator to content of tenants over HTTP: only with a scope that is granted by name, with a
// reason, and recorded in the audit logs of both sides.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isOperatorOperation } from "../../src/access/scopes.ts";
import { parseInput } from "../../src/contract/parse.ts";
import { operations } from "../../src/operations/all.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, OPERATOR_SCOPES, type TestTenant } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestApi, type TestApi } from "./isolation.ts";

const REASON = "Ticket 4711";
const returning = operations.filter(({ returnsContent }) => returnsContent);
let [database, api, operator, tenant] = [] as unknown as [TestDatabase, TestApi, TestTenant, TestTenant];
const storage = mkdtempSync(join(tmpdir(), "gesso-content-"));

beforeAll(async () => {
  database = await startTestDatabase();
  api = await startTestApi(database, { STORAGE_DIR: storage });
  const environment = { url: api.url, query };
  operator = await createTestTenant(environment, { user_id: "olga", scopes: OPERATOR_SCOPES });
  tenant = await createTestTenant(environment);
});
afterAll(async () => {
  await api?.close();
  await database?.stop();
  rmSync(storage, { recursive: true, force: true });
});

const query = async <R>(text: string, values: unknown[] = []): Promise<R[]> =>
  (await database.owner.query(v7(), text, values)) as R[];
const exportTenant = (caller: ApiCaller, body?: object) =>
  caller.send("POST", `/api/v1/tenants/${tenant.tenant_id}/export`, { ...(body && { body }) });
const outcome = ({ status, body }: { status: number; body: any }) => [status, body.code, body.details?.required];
/** What a fresh key of the operator must do first. */
async function grantContent(by: ApiCaller): Promise<ApiCaller> {
  const { status, body } = await by.post("/keys", { name: "break glass", scopes: ["tenants:*", "content:read"] });
  expect(status).toBe(201);
  return createHttpCaller({ url: api.url, key: body.key });
}
const entriesOf = (tenantId: string, action: string) =>
  query<{ user_id: string; subject: string; details: object }>(
    "select user_id, subject, details from audit_log where tenant_id = $1 and action = $2 order by entry",
    [tenantId, action],
  );

describe("operations that return content of tenants", () => {
  it("are the archive and the export, are the operator's, and need a reason of 1 to 500 characters", () => {
    expect(returning.map(({ name }) => name).sort()).toEqual(["admin.queryArchive", "tenants.export"]);
    for (const operation of returning) {
      expect([operation.name, isOperatorOperation(operation)]).toEqual([operation.name, true]);
      const accepts = (reason?: string) => {
        try {
          parseInput(operation, { ...operation.example, reason });
          return true;
        } catch {
          return false;
        }
      };
      expect(["x", "x".repeat(500)].map(accepts)).toEqual([true, true]);
      expect([undefined, "", " ", "x".repeat(501)].map(accepts)).toEqual([false, false, false, false]);
    }
  });

  it("are refused to a fresh key of the operator, which names the scope that is missing", async () => {
    const refused = [403, "insufficient_scope", "content:read"];
    expect(outcome(await exportTenant(operator.caller, { reason: REASON }))).toEqual(refused);
    expect(outcome(await operator.caller.get(`/admin/archive?reason=${REASON}`))).toEqual(refused);
    expect(await entriesOf(tenant.tenant_id, "tenants.export")).toEqual([]);
  });

  it("are refused without a reason", async () => {
    const reader = await grantContent(operator.caller);
    for (const response of [await exportTenant(reader, {}), await reader.get("/admin/archive")]) {
      expect(outcome(response).slice(0, 2)).toEqual([400, "validation_error"]);
      expect(response.body.details.errors).toMatchObject([{ path: "/reason", code: "required" }]);
    }
  });

  it("leave an entry with the reason in the log of the tenant and in the operator's, and tenants see theirs", async () => {
    const reader = await grantContent(operator.caller);
    expect((await exportTenant(reader, { reason: REASON })).status).toBe(201);
    const details = { by_tenant: operator.tenant_id, reason: REASON };
    const ofTenant = { user_id: "olga", subject: tenant.tenant_id, details };
    expect(await entriesOf(tenant.tenant_id, "tenants.export")).toEqual([ofTenant]);
    const ofOperator = { ...ofTenant, details: { of_tenants: [tenant.tenant_id], reason: REASON } };
    expect(await entriesOf(operator.tenant_id, "tenants.export")).toEqual([ofOperator]);
    const { body } = await tenant.caller.get("/audit");
    expect(body.data).toContainEqual(expect.objectContaining({ action: "tenants.export", details }));

    // A search that finds nothing concerns no tenant, and the operator's log has it all the same.
    const found = await reader.get(`/admin/archive?tenant_id=${tenant.tenant_id}&reason=${REASON}`);
    expect([found.status, found.body.data]).toEqual([200, []]);
    expect(await entriesOf(operator.tenant_id, "admin.queryArchive")).toMatchObject([
      { details: { of_tenants: [], reason: REASON } },
    ]);
    expect(await entriesOf(tenant.tenant_id, "admin.queryArchive")).toEqual([]);
  });

  it("of an unknown tenant are not found and leave no entry", async () => {
    const reader = await grantContent(operator.caller);
    const before = (await entriesOf(operator.tenant_id, "tenants.export")).length;
    const response = await reader.post(`/tenants/${v7()}/export`, { reason: REASON });
    expect(outcome(response).slice(0, 2)).toEqual([404, "route_not_found"]);
    expect(await entriesOf(operator.tenant_id, "tenants.export")).toHaveLength(before);
  });
});

describe("the scope for content", () => {
  it("is granted by an operator by name, and by no other key", async () => {
    const draft = { name: "break glass", scopes: ["content:read"] };
    expect(outcome(await tenant.caller.post("/keys", draft))).toEqual([403, "insufficient_scope", ["content:read"]]);
    await grantContent(operator.caller);
    const [entry] = await query<{ details: { scopes: string[] } }>(
      "select details from audit_log where tenant_id = $1 and action = 'keys.create' order by entry desc limit 1",
      [operator.tenant_id],
    );
    expect(entry!.details.scopes).toEqual(["tenants:*", "content:read"]);
  });
});
