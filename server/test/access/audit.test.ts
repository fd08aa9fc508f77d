// Every operation that changes access, money limits, models or webhooks writes an audit entry. Derived from the
// registry: a new operation fails here until it has a request below or a reason to have no entry.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/contract/schemas/run.ts";
import { operations } from "../../src/operations/all.ts";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { type ApiResponse, sendOverHttp } from "../support/api-caller.ts";
import { createTestTenant, type TestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestApi, type TestApi } from "./isolation.ts";

/** The content of a tenant, with its own history: runs and events, versions of prompts. */
const CONTENT = ["images", "runs", "prompts"];

const WITHOUT_ENTRY: Record<string, string> = {
  "provenance.verify": "reads a file that the caller sends and changes nothing",
  "webhooks.test": "sends one sample message to an endpoint of the tenant; the delivery log has it",
  "webhooks.trigger": "sends one sample message to the tenant's own listeners; the delivery log has it",
  "webhooks.replay": "sends events of the tenant again to its endpoint; the replay and its deliveries are rows",
  "webhooks.deliveries.redeliver": "sends a message of the tenant again; the delivery log has it",
  "webhooks.listeners.message": "reads one event as a signed message and changes nothing",
  "webhooks.listeners.report": "reports the result of a forwarded message; the delivery log has it",
};

const SECRET_TEXT = "words of a person";
let count = 0;
const fresh = () => `audited-${++count}`;

/** A resource to act on, created when a request needs it. */
type Fixtures = Record<
  | "key"
  | "member"
  | "model"
  | "granted"
  | "tenant"
  | "suspended"
  | "webhook"
  | "budget"
  | "run"
  | "unknown"
  | "paused"
  | "setAside"
  | "imported",
  () => Promise<string>
>;
type AuditedRequest = { params?: Record<string, string>; query?: string; body?: object };

const REQUESTS: Record<string, (fixtures: Fixtures) => Promise<AuditedRequest>> = {
  "admin.end": async ({ run }) => ({ params: { run_id: await run() } }),
  "admin.retry": async ({ run }) => ({ params: { run_id: await run() } }),
  "admin.quarantine": async ({ run }) => ({ params: { run_id: await run() } }),
  "admin.settle": async ({ unknown }) => ({
    params: { run_id: await unknown() },
    body: { job: 0, try: 1, charged: 0.5 },
  }),
  "admin.pause": async () => ({ body: { duty: fresh() } }),
  "admin.resume": async ({ paused }) => ({ body: { duty: await paused() } }),
  "admin.skipEvent": async ({ setAside }) => ({ params: { event_id: await setAside() } }),
  "admin.rebuild": async () => ({}),
  "budgets.create": async () => ({ body: { of: { customer: fresh() }, spend_per_day: 2 } }),
  "budgets.delete": async ({ budget }) => ({ params: { budget_id: await budget() } }),
  "keys.create": async () => ({ body: { name: SECRET_TEXT, scopes: ["runs:read"] } }),
  "keys.update": async ({ key }) => ({ params: { key_id: await key() }, body: { name: SECRET_TEXT } }),
  "keys.rotate": async ({ key }) => ({ params: { key_id: await key() }, body: {} }),
  "keys.revoke": async ({ key }) => ({ params: { key_id: await key() } }),
  "members.add": async () => ({ body: { user_id: fresh(), role: "viewer", name: SECRET_TEXT } }),
  "members.update": async ({ member }) => ({ params: { user_id: await member() }, body: { name: SECRET_TEXT } }),
  "members.remove": async ({ member }) => ({ params: { user_id: await member() } }),
  "models.create": async () => ({
    body: { name: SECRET_TEXT, description: SECRET_TEXT, model_type: "flux-dev", deployment_id: fresh() },
  }),
  "models.update": async ({ model }) => ({ params: { model_id: await model() }, body: { description: SECRET_TEXT } }),
  "models.delete": async ({ model }) => ({ params: { model_id: await model() } }),
  "models.grants.create": async ({ model }) => ({ params: { model_id: await model() }, body: { user_id: "maria" } }),
  "models.grants.delete": async ({ granted }) => ({ params: { model_id: await granted() }, query: "user_id=maria" }),
  "system.connectProvider": async () => ({
    params: { provider: "fal" },
    body: { settings: { FAL_KEY: fakeFal.env(vendor).FAL_KEY } },
  }),
  "system.importModel": async () => ({ body: { model: "sandbox:replay/studio", aliases: [fresh()] } }),
  "system.removeModel": async ({ imported }) => ({ params: { model: await imported() } }),
  "tenants.create": async () => ({ body: { name: "Acme", owner_id: "ada" } }),
  "tenants.update": async ({ tenant }) => ({ params: { tenant_id: await tenant() }, body: { weight: 2 } }),
  "tenants.credit": async ({ tenant }) => ({ params: { tenant_id: await tenant() }, body: { amount: 5 } }),
  "tenants.delete": async ({ suspended }) => ({ params: { tenant_id: await suspended() }, body: { confirm: "Acme" } }),
  "tenants.export": async ({ tenant }) => ({ params: { tenant_id: await tenant() }, body: { reason: "ticket 1" } }),
  "tokens.create": async () => ({ body: { ...TOKEN_REQUEST, expires_in: 60 } }),
  "webhooks.create": async () => ({ body: { url: "https://example.com/a", description: SECRET_TEXT } }),
  "webhooks.update": async ({ webhook }) => ({ params: { webhook_id: await webhook() }, body: { enabled: false } }),
  "webhooks.delete": async ({ webhook }) => ({ params: { webhook_id: await webhook() } }),
  "webhooks.rotate": async ({ webhook }) => ({ params: { webhook_id: await webhook() }, body: {} }),
  "webhooks.secret.rotate": async () => ({ body: {} }),
  "webhooks.listeners.create": async () => ({ body: { name: "laptop" } }),
};

const changing = operations.filter(
  ({ name, http, variantOf, plan }) =>
    http.method !== "GET" && !variantOf && !plan && !CONTENT.includes(name.split(".")[0]!),
);

let [database, api, operator, vendor] = [] as unknown as [TestDatabase, TestApi, TestTenant, FakeVendor];
const storage = mkdtempSync(join(tmpdir(), "gesso-audit-"));

beforeAll(async () => {
  database = await startTestDatabase();
  const query = (text: string, values?: unknown[]) =>
    database.owner.query(`test.${text.length}`, text, values) as never;
  operator = await createTestTenant(
    { url: "", query },
    { user_id: "olga", scopes: ["*", "tenants:*", "content:read"] },
  );
  vendor = await fakeFal.start();
  const { FAL_KEY: _, ...addresses } = fakeFal.env(vendor);
  const settings = { STORAGE_DIR: storage, REQUESTS_PER_MINUTE: "100000", ...addresses };
  api = await startTestApi(database, { ...settings, DEV_CONNECT_FILE: join(storage, "handed-key.json") });
});
afterAll(async () => {
  await api?.close();
  await vendor?.close();
  await database?.stop();
  rmSync(storage, { recursive: true, force: true });
});

async function send(name: string, { params = {}, query, body }: AuditedRequest): Promise<ApiResponse> {
  const { method, path } = operations.find((operation) => operation.name === name)!.http;
  const place = path.replace(/:(\w+)/g, (_, field) => encodeURIComponent(params[field]!));
  const url = `/api/v1${place}${query ? `?${query}` : ""}`;
  return sendOverHttp({ url: api.url, key: operator.key })(method, url, { ...(body && { body }) });
}
const create = async (name: string, idField: string, request: AuditedRequest): Promise<string> => {
  const { status, body } = await send(name, request);
  expect([name, status]).toEqual([name, 201]);
  return body[idField];
};
const fixtures: Fixtures = {
  key: async () => create("keys.create", "id", await REQUESTS["keys.create"]!(fixtures)),
  member: async () => create("members.add", "user_id", await REQUESTS["members.add"]!(fixtures)),
  model: async () => create("models.create", "model_id", await REQUESTS["models.create"]!(fixtures)),
  granted: async () => create("models.grants.create", "model_id", await REQUESTS["models.grants.create"]!(fixtures)),
  tenant: async () => create("tenants.create", "id", await REQUESTS["tenants.create"]!(fixtures)),
  suspended: async () => {
    const tenant_id = await fixtures.tenant();
    await send("tenants.update", { params: { tenant_id }, body: { suspended: true } });
    return tenant_id;
  },
  budget: async () => create("budgets.create", "id", await REQUESTS["budgets.create"]!(fixtures)),
  webhook: async () => create("webhooks.create", "id", await REQUESTS["webhooks.create"]!(fixtures)),
  run: async () => (await send("images.generate", { body: { prompt: "p" } })).body.run_id,
  unknown: async () => {
    const run_id = await fixtures.run();
    const fault = JSON.stringify({ code: "provider_outcome_unknown", message: "m", details: {} });
    await database.owner.query(
      "test.unknown",
      `insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, state, price,
         unknown_since, fault) values ($1, 0, 1, 'k', 0, 'sandbox', 'failed', 10000, now(), $2)`,
      [run_id, fault],
    );
    await send("admin.end", { params: { run_id } });
    return run_id;
  },
  setAside: async () => {
    const event_id = randomUUID();
    await database.owner.query(
      "test.set_aside",
      `insert into webhook_set_aside_events (event_id, run_id, tenant_id, type, reason)
       values ($1, $1, $2, 'run.failed', 'r')`,
      [event_id, operator.tenant_id],
    );
    return event_id;
  },
  imported: async () => {
    const alias = fresh();
    await send("system.importModel", { body: { model: "sandbox:replay/studio", aliases: [alias] } });
    return alias;
  },
  paused: async () => {
    const duty = fresh();
    await send("admin.pause", { body: { duty } });
    return duty;
  },
};

type Entry = { action: string; user_id: string; key_id: string; details: JsonObject };
const entries = () =>
  database.owner.query<Entry>("test.entries", "select action, user_id, key_id, details from audit_log order by at");

describe("operations that change something", () => {
  it("each have a request here, or a reason to write no audit entry", () => {
    const decided = [...Object.keys(REQUESTS), ...Object.keys(WITHOUT_ENTRY)];
    expect(changing.map(({ name }) => name).sort()).toEqual(decided.sort());
  });

  it.each(Object.keys(REQUESTS))("%s writes one audit entry with its author, and no text of a person", async (name) => {
    const request = await REQUESTS[name]!(fixtures);
    const before = await entries();
    const response = await send(name, request);
    expect([response.status, response.body.code]).toEqual([expect.closeTo(200, -2), undefined]);
    const added = (await entries()).slice(before.length);
    // Reading content is recorded for the tenant and for the operator.
    const isDisclosure = operations.find((operation) => operation.name === name)!.returnsContent;
    const entry = { action: name, user_id: "olga", key_id: operator.key_id };
    expect(added).toMatchObject(isDisclosure ? [entry, entry] : [entry]);
    expect(JSON.stringify(added)).not.toContain(SECRET_TEXT);
    const secrets = [response.body.key, response.body.secret, response.body.access_token].filter(Boolean);
    for (const secret of secrets) expect(JSON.stringify(added)).not.toContain(secret);
  });

  it("write no second entry when a grant exists already", async () => {
    const model_id = await fixtures.granted();
    const before = (await entries()).length;
    expect((await send("models.grants.create", { params: { model_id }, body: { user_id: "maria" } })).status).toBe(201);
    expect(await entries()).toHaveLength(before);
  });
});
