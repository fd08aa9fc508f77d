// A deleted tenant leaves nothing in tables, storage, the engine, spool directories and logs except its id in the
// tombstone and in the operator's audit log. A tenant beside it keeps every row and byte.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller, readSandboxLedger } from "../support/api-caller.ts";
import { listLedgerViolations } from "../support/check-ledger.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";

/** Prices, so that money moves. */
const GESSO_CONFIG = fileURLToPath(new URL("../chaos/prices.yaml", import.meta.url));
const SIZE = { width: 64, height: 64 };
const IMAGE = { ...SIZE, model_type: "flux-dev" };
/** Every text of the tenant contains it. */
const CANARY = "canary7f3a9c";

let receiver: WebhookReceiver;
let environment: TestEnvironment;
let operator: ApiCaller;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  environment = await startTestEnvironment({ roles: "split", env: { ...webhookEnv(receiver), GESSO_CONFIG } });
  operator = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  await receiver?.close();
});

type Tenant = { id: string; name: string; caller: ApiCaller };

const expectStatus = ({ status, body }: { status: number; body: any }, expected: number) => {
  expect([status, status === expected ? "" : body]).toEqual([expected, ""]);
  return body;
};

/** A tenant with the text in every field that takes one, ended and failed runs, files, deliveries and money. */
async function createFullTenant(text: string, color: string): Promise<Tenant> {
  const name = `${text} tenant`;
  const owner = { owner_id: `${text}-owner`, owner_name: `${text} owner`, owner_email: `${text}@example.com` };
  const limits = { spend_per_month: 100, runs_per_minute: 1000 };
  const { id, owner_key } = expectStatus(
    await operator.post("/tenants", { name, ...owner, limits }, { "idempotency-key": `${text}-tenant` }),
    201,
  );
  const caller = createHttpCaller({ url: environment.url, key: owner_key.key });
  expectStatus(await operator.post(`/tenants/${id}/credit`, { amount: 20 }), 200);
  expectStatus(
    await caller.post("/members", { user_id: `${text}-user`, role: "viewer", name: text, email: text }),
    201,
  );
  expectStatus(await caller.post("/keys", { name: `${text} key`, scopes: ["*"], limits: { spend_per_day: 50 } }), 201);
  const prompt = expectStatus(await caller.post("/prompts", { name: text, text: `a ${text}`, tags: [text] }), 201);
  expectStatus(await caller.send("PATCH", `/api/v1/prompts/${prompt.id}`, { body: { text: `two ${text}` } }), 200);
  expectStatus(
    await caller.post("/models", {
      ...{
        name: text,
        model_type: "wan-image-2.1",
        deployment_id: `${text}-lora`,
        trigger_word: text,
        description: text,
      },
      ...{ preview_image_url: `https://example.com/${text}.png`, visibility: "tenant" },
    }),
    201,
  );
  const url = `${receiver.url}/${text}`;
  expectStatus(
    await caller.post("/webhooks", { url, events: ["run.completed", "run.failed"], description: text }),
    201,
  );
  const bytes = await sharp({ create: { ...SIZE, channels: 3, background: color } })
    .png()
    .toBuffer();
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(bytes)], { type: "image/png" }), `${text}.png`);
  form.set("description", text);
  const upload = await caller.send("POST", "/api/v1/upload", { body: form });
  expectStatus(upload, 201);
  const run = {
    metadata: { note: text },
    webhook_url: url,
    webhook_secret: `${text}-secret-that-is-long-enough`,
    ...IMAGE,
  };
  const send = (prompt: string) => caller.generate({ prompt: `${prompt} ${text}`, ...run, sync: true });
  expectStatus(await send("a boat"), 200);
  await send("[sandbox:fail] a boat");
  expectStatus(
    await caller.generate({ prompt: `${text} again`, ...run, sync: true }, { "idempotency-key": `${text}-run` }),
    200,
  );
  return { id, name, caller };
}

const listTables = async () =>
  (
    await environment.query<{ name: string }>(
      `select relname::text as name from pg_class where relkind in ('r', 'p') and not relispartition
       and relnamespace = current_schema()::regnamespace order by 1`,
    )
  ).map(({ name }) => name);

/** The tables with a row that contains the text in any column. */
async function findInTables(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await listTables()) {
    const rows = await environment.query(`select from "${name}" as t where t::text ilike '%' || $1 || '%' limit 1`, [
      text,
    ]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

const listFiles = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Files below these directories whose name or content has the text. */
const findInFiles = (directories: string[], text: string): string[] =>
  directories
    .flatMap((directory) => listFiles(directory))
    .filter((path) => path.includes(text) || readFileSync(path).includes(text));

/** Rows of the engine's own tables that contain the text, also as bytes. */
async function findInEngine(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of ["sys_invocation", "sys_journal", "state", "sys_inbox", "sys_promise"]) {
    for (const row of await environment.queryEngine(`select * from ${table}`)) {
      const all = JSON.stringify(row);
      if (all.includes(text) || all.includes(Buffer.from(text).toString("hex"))) found.push(table);
    }
  }
  return [...new Set(found)];
}

/** A digest of every row of a tenant by table, and of its stored bytes. */
async function digestTenant(tenantId: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const name of await listTables()) {
    const [row] = await environment.query<{ count: number; digest: string }>(
      `select count(*)::int as count, md5(coalesce(string_agg(t::text, ';' order by t::text), '')) as digest
       from "${name}" as t where t::text like '%' || $1 || '%'`,
      [tenantId],
    );
    if (row!.count > 0) digests[name] = `${row!.count} ${row!.digest}`;
  }
  const hash = createHash("sha256");
  const files = listFiles(join(environment.storageDir)).filter((path) => path.includes(tenantId));
  for (const path of files.sort()) hash.update(path).update(readFileSync(path));
  return { ...digests, files: `${files.length} ${hash.digest("hex")}` };
}

const suspend = (id: string) => operator.send("PATCH", `/api/v1/tenants/${id}`, { body: { suspended: true } });
const requestDeletion = (id: string, confirm: string) => operator.post(`/tenants/${id}/deletion`, { confirm });
const readDeletion = async (id: string) => (await operator.get(`/tenants/${id}/deletion`)).body;

async function waitUntil<T>(read: () => Promise<T>, isSo: (value: T) => boolean, seconds: number): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    if (Date.now() > end) throw new Error(`not so after ${seconds} s: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
const waitUntilDeleted = (id: string) =>
  waitUntil(
    () => readDeletion(id),
    (deletion) => deletion.state === "completed",
    600,
  );
const noOpenDeliveries = () =>
  waitUntil(
    () => environment.query("select from open_deliveries"),
    (rows) => rows.length === 0,
    60,
  );

// At once: a deletion waits 20 s until no process can work for the tenant any more.
it.concurrent("a deletion needs a suspended tenant, its name and the operator, and a deleted tenant is unknown", async () => {
  const { id, owner_key } = expectStatus(await operator.post("/tenants", { name: "Empty" }), 201);
  const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.details?.reason ?? body.code];
  expect(codeOf(await operator.get(`/tenants/${id}/deletion`))).toEqual([404, "route_not_found"]);
  expect(codeOf(await requestDeletion(id, "Empty"))).toEqual([409, "not_suspended"]);
  const owner = createHttpCaller({ url: environment.url, key: owner_key.key });
  expect(codeOf(await owner.post(`/tenants/${id}/deletion`, { confirm: "Empty" }))).toEqual([
    403,
    "insufficient_scope",
  ]);
  await suspend(id);
  expect(codeOf(await requestDeletion(id, "Emty"))).toEqual([400, "validation_error"]);
  expect(codeOf(await requestDeletion("00000000-0000-7000-8000-000000000001", "default"))).toEqual([409, "own_tenant"]);
  expect(expectStatus(await requestDeletion(id, "Empty"), 202)).toMatchObject({ tenant_id: id, digest: null });
  const resume = await operator.send("PATCH", `/api/v1/tenants/${id}`, { body: { suspended: false } });
  expect(codeOf(resume)).toEqual([409, "being_deleted"]);
  await waitUntilDeleted(id);
  expect((await operator.get(`/tenants/${id}`)).status).toBe(404);
  // Repeating the request returns the certificate.
  expect(expectStatus(await requestDeletion(id, "anything"), 202)).toMatchObject({ state: "completed" });
});

it.concurrent("an export has all data of its tenant, no secret, and a file for each URL", async () => {
  const text = "exported5d10";
  const tenant = await createFullTenant(text, "#20a040");
  await noOpenDeliveries();
  const reason = { reason: "ticket 1" };
  const grant = { name: "break glass", scopes: ["tenants:*", "content:read"] };
  const { key } = expectStatus(await operator.post("/keys", grant), 201);
  const reader = createHttpCaller({ url: environment.url, key });
  const { url } = expectStatus(await reader.post(`/tenants/${tenant.id}/export`, reason), 201);
  const denied = await tenant.caller.post(`/tenants/${tenant.id}/export`, reason);
  expect([denied.status, denied.body.code]).toEqual([403, "insufficient_scope"]);
  const response = await fetch(url);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
  const body = await response.text();
  const lines: any[] = body
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const ofKind = (kind: string) => lines.filter((line) => line.kind === kind);
  const counts = Object.fromEntries(
    [...new Set(lines.map(({ kind }) => kind))].map((kind) => [kind, ofKind(kind).length]),
  );
  expect(counts).toMatchObject({
    ...{
      export: 1,
      tenant: 1,
      member: 2,
      key: 2,
      prompt: 1,
      prompt_version: 2,
      model: 1,
      webhook: 1,
      top_up: 1,
      run: 4,
    },
    ...{ end: 1, attempt: 3 },
  });
  for (const kind of ["audit_entry", "budget", "delivery", "delivery_attempt", "event", "file", "transfer"])
    expect([kind, counts[kind]]).not.toEqual([kind, undefined]);
  expect(lines.at(-1)).toEqual({ kind: "end", lines: lines.length });
  expect(ofKind("run").filter(({ inputs }) => JSON.stringify(inputs).includes(text))).toHaveLength(4);
  expect(ofKind("webhook")[0]).toMatchObject({ url: `${receiver.url}/${text}`, description: text });
  for (const secret of [/gsk_/, /whsec_/, new RegExp(`${text}-secret`), /sealed/]) expect(body).not.toMatch(secret);
  for (const file of ofKind("file")) {
    const bytes = Buffer.from(await (await fetch(file.url)).arrayBuffer());
    expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([file.size_bytes, file.sha256]);
  }
  const forged = [
    url.replace(tenant.id, "00000000-0000-7000-8000-000000000001"),
    url.replace(/.$/, (last: string) => (last === "A" ? "B" : "A")),
  ];
  expect(await Promise.all(forged.map(async (each) => (await fetch(each)).status))).toEqual([404, 404]);
});

it.concurrent("a deleted tenant leaves no text, file or id behind, also if the worker is killed meanwhile", async () => {
  const data = dirname(environment.storageDir);
  const other = await createFullTenant("neighbour4b21", "#306090");
  const tenant = await createFullTenant(CANARY, "#904020");
  // Open runs: one at the provider, one that is still waiting.
  const slow = { prompt: `[sandbox:delay=120] ${CANARY}`, ...IMAGE };
  const { run_id } = expectStatus(await tenant.caller.generate(slow), 202);
  await waitUntil(
    () => environment.query("select from attempts where run_id = $1 and ticket is not null", [run_id]),
    (rows) => rows.length > 0,
    60,
  );
  await noOpenDeliveries();
  await waitUntil(
    () => environment.query("select from webhook_deliveries where tenant_id = $1", [tenant.id]),
    (rows) => rows.length > 3,
    30,
  );

  // Runs are indexed within seconds after they have ended; the rows of the other tenant change until then.
  const listUnindexed = () =>
    environment.query(
      `select from runs left join run_index using (run_id)
       where finished_at is not null and is_open is distinct from false`,
    );
  await waitUntil(listUnindexed, (rows) => rows.length === 0, 30);

  // The canary is where it should be searched for, so that not finding it means something.
  const before = await findInTables(CANARY);
  expect(before).toEqual(
    expect.arrayContaining([
      ...["api_keys", "attempts", "audit_log", "idempotency_keys", "lora_names", "members", "models", "prompts"],
      ...["prompt_versions", "runs", "tenants", "webhook_deliveries", "webhook_endpoints"],
    ]),
  );
  expect(await findInEngine(CANARY)).not.toEqual([]);
  const storedFiles = listFiles(environment.storageDir).filter((path) => path.includes(tenant.id)).length;
  expect(storedFiles).toBeGreaterThanOrEqual(3);
  // New entries of the audit log get their checkpoints within seconds; the rows of the other tenant change until then.
  const listUnsealed = () => environment.query("select tenant_id from audit_pending");
  await waitUntil(listUnsealed, (rows) => rows.length === 0, 30);
  const otherBefore = await digestTenant(other.id);

  // A paid response that is still in the spool of the worker.
  const spool = join(data, "spool");
  writeFileSync(join(spool, `${run_id}.0.1`), `{"text":"${CANARY}"}\n`);
  await suspend(tenant.id);
  const requested = expectStatus(await requestDeletion(tenant.id, tenant.name), 202);
  expect(requested.state).toBe("canceling_runs");
  // A lock on the members stops the deletion halfway, and the worker is killed there.
  const blocker = new pg.Client({ connectionString: environment.databaseUrl });
  await blocker.connect();
  await blocker.query("begin");
  await blocker.query("select from members where tenant_id = $1 for update", [tenant.id]);
  await waitUntil(
    () => readDeletion(tenant.id),
    ({ deleted_rows }) => deleted_rows.api_keys > 0,
    120,
  );
  expect((await readDeletion(tenant.id)).deleted_rows.members).toBeUndefined();
  expect(await listLedgerViolations(environment)).toEqual([]);
  await environment.kill("worker");
  await blocker.query("rollback");
  await blocker.end();
  await environment.start("worker");
  const deletion = await waitUntilDeleted(tenant.id);

  expect(await findInTables(CANARY)).toEqual([]);
  expect(await findInTables(tenant.id)).toEqual(["audit_checkpoints", "audit_log", "tenant_deletions"]);
  expect(await findInEngine(CANARY)).toEqual([]);
  expect(await findInEngine(tenant.id)).toEqual([]);
  const places = [environment.storageDir, spool, join(data, "api"), join(data, "worker")];
  expect(findInFiles(places, CANARY)).toEqual([]);
  expect(findInFiles([spool], run_id)).toEqual([]);
  expect(findInFiles([environment.storageDir, spool], tenant.id)).toEqual([]);
  const jobs = (await readSandboxLedger(environment)).filter(({ reference }) => reference?.startsWith(run_id));
  expect(jobs.map(({ status }) => status)).toEqual(["canceled"]);

  expect(await digestTenant(other.id)).toEqual(otherBefore);
  expect(await listLedgerViolations(environment)).toEqual([]);
  expect(deletion).toMatchObject({
    ...{ deleted_objects: storedFiles, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    deleted_rows: { tenants: 1, members: 2, api_keys: 2, models: 1, lora_names: 1, runs: 5, prompts: 1 },
    ledger: { outside_to_available: 20, available_to_reserved: 0.12 },
  });
  const { body: audit } = await operator.get("/audit?limit=20");
  const entries = audit.data.filter(({ subject }: { subject: string }) => subject === tenant.id);
  expect(entries.map(({ action }: { action: string }) => action)).toEqual(["tenants.deleted", "tenants.delete"]);
  expect(entries[0].details).toEqual({ digest: deletion.digest });
  // The name of the LoRA stays reserved: its file may still be on the operator's machines.
  const lora = { name: "x", model_type: "wan-image-2.1", deployment_id: `${CANARY}-lora` };
  expect((await other.caller.post("/models", lora)).status).toBe(400);
});
