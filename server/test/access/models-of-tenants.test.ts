// Imported models that the operator limits to some tenants: for all others they do not exist.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publishModel } from "../../src/providers/sandbox/sandbox-models.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, OPERATOR_SCOPES, type TestTenant } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestApi, type TestApi } from "./isolation.ts";

const MODEL = "sandbox:replay/studio";
const NAMES = [MODEL, "studio-of-acme"];

let database: TestDatabase;
let api: TestApi;
let operator: ApiCaller;
let [acme, other] = [] as unknown as [TestTenant, TestTenant];
const storage = mkdtempSync(join(tmpdir(), "gesso-models-"));

beforeAll(async () => {
  database = await startTestDatabase();
  const query = (text: string, values: unknown[] = []) =>
    database.owner.query(`models.${text.length}`, text, values) as never;
  const environment = { url: "", query };
  const operators = await createTestTenant(environment, { scopes: OPERATOR_SCOPES });
  [acme, other] = [await createTestTenant(environment), await createTestTenant(environment)];
  api = await startTestApi(database, { STORAGE_DIR: storage });
  operator = createHttpCaller({ ...api, key: operators.key });
}, 60_000);
afterAll(async () => {
  await api?.close();
  await database?.stop();
  rmSync(storage, { recursive: true, force: true });
});

async function add(more: object) {
  const document = publishModel("replay/studio");
  const { status, body } = await operator.post("/catalogue/models", { model: MODEL, document, ...more });
  expect([status, body.details]).toEqual([200, undefined]);
  return body;
}

/** What the tenant finds of the model, and what becomes of its requests. */
async function lookAt({ key }: TestTenant) {
  const caller = createHttpCaller({ ...api, key });
  const body = { model: NAMES[1], input: { prompt: "a boat" } };
  const { body: page } = await caller.get("/catalogue/models?limit=100");
  const run = await caller.post("/runs", body);
  return {
    listed: page.data.map(({ name, tenant_ids }: any) => [name, tenant_ids]),
    shown: (await caller.get(`/catalogue/models/${NAMES[1]}`)).status,
    estimated: (await caller.post("/runs/estimate", { operation: "runs.create", input: body })).status,
    run: [run.status, ...(run.body.details?.errors ?? []).map(({ path }: { path: string }) => path)],
  };
}

describe("A model that is limited to some tenants", () => {
  // A tenant does not learn which other tenants have a model.
  const found = { listed: NAMES.map((name) => [name, undefined]), shown: 200, estimated: 200, run: [202] };
  const nothing = { listed: [], shown: 400, estimated: 400, run: [400, "/model"] };

  it("exists for them only, in lists, by its name and for runs, until the operator opens it to all", async () => {
    const limited = await add({ aliases: NAMES.slice(1), tenant_ids: [acme.tenant_id] });
    expect(limited.tenant_ids).toEqual([acme.tenant_id]);
    expect(await lookAt(other)).toEqual(nothing);
    expect(await lookAt(acme)).toEqual(found);
    await add({ aliases: NAMES.slice(1), tenant_ids: null });
    expect(await lookAt(other)).toEqual(found);
  });

  it("stays limited when its document is imported again, and the operator sees to whom", async () => {
    await add({ aliases: NAMES.slice(1), tenant_ids: [acme.tenant_id] });
    expect((await add({ aliases: NAMES.slice(1) })).tenant_ids).toEqual([acme.tenant_id]);
    expect((await operator.get(`/catalogue/models/${NAMES[1]}`)).body.tenant_ids).toEqual([acme.tenant_id]);
    expect(await lookAt(other)).toEqual(nothing);
  });

  it("is refused for a tenant that does not exist", async () => {
    const unknown = { model: MODEL, tenant_ids: ["01990c3e-2f00-7000-8000-6f0c1a2b3c4d"] };
    const { status, body } = await operator.post("/catalogue/models", unknown);
    expect([status, body.details.errors[0].path]).toEqual([400, "/tenant_ids"]);
  });
});
