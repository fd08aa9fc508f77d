// No operation exposes data of another tenant: with both the tenant filters and row-level security, and with row-level
// security alone.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/db/connect.ts";
import { importModel } from "../../src/models/import-model.ts";
import { publishModel } from "../../src/providers/sandbox/sandbox-models.ts";
import { newSigner, publicJwk, signUnchecked } from "../corpora/tokens.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { insertTestModel } from "../support/custom-models.ts";
import { createTestTenant, type TestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { baseOperations, type IdField, listIdFields } from "./id-fields.ts";
import {
  type Credential,
  checkIsolation,
  type IsolationResult,
  startTestApi,
  type TestApi,
  withoutTenantFilters,
} from "./isolation.ts";

let database: TestDatabase;
let issuer: Server;
let api: TestApi;
let [ann, eve] = [] as unknown as [TestTenant, TestTenant];
let credentials: Credential[];
let env: Record<string, string>;
const storage = mkdtempSync(join(tmpdir(), "gesso-walk-"));
const theirs: Record<string, string> = {};
const cursors: Record<string, string> = {};
const positions = baseOperations.flatMap(listIdFields);

beforeAll(async () => {
  database = await startTestDatabase();
  const signer = await newSigner("ES256", "one");
  issuer = createServer(async (_, response) => void response.end(JSON.stringify({ keys: [await publicJwk(signer)] })));
  await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
  const query = (text: string, values: unknown[] = []) =>
    database.owner.query(`walk.${text.length}`, text, values) as never;
  const environment = { url: "", query };
  [ann, eve] = [
    await createTestTenant(environment, { user_id: "ann" }),
    await createTestTenant(environment, { user_id: "eve" }),
  ];
  const jwks_uri = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
  const settings = { id: "corp", issuer: "https://id.example", audience: "gesso", jwks_uri, tenant_id: ann.tenant_id };
  env = { STORAGE_DIR: storage, OIDC_ISSUERS: JSON.stringify([{ ...settings, role: "owner", scopes: ["*"] }]) };
  api = await startTestApi(database, env);

  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: "https://id.example", aud: "gesso", sub: "al", iat: now, exp: now + 3600 };
  const minted = (
    await createHttpCaller({ ...api, key: ann.key }).post("/tokens", { ...TOKEN_REQUEST, expires_in: 3600 })
  ).body.access_token;
  credentials = [
    { name: "key", key: ann.key },
    { name: "token", key: minted },
    { name: "identity", key: signUnchecked({ alg: "ES256", kid: "one", typ: "at+jwt" }, claims, signer) },
  ];
  await fill(query);
});
afterAll(async () => {
  await api?.close();
  issuer?.close();
  await database?.stop();
  rmSync(storage, { recursive: true, force: true });
});

/** As the operator imports it. */
async function insertImportedModel(query: (text: string, values?: unknown[]) => never, path: string): Promise<void> {
  const imported = importModel("sandbox", path, publishModel(path));
  if ("refused" in imported) throw new Error(imported.refused);
  const { model, hash, provider } = imported.model;
  await query(
    `insert into imported_models (model, hash, provider, media, document, imported_by) values ($1, $2, $3, '{}', $4, 'o')`,
    [model, hash, provider, JSON.stringify(imported.model)],
  );
  await query("insert into model_pins (name, model, hash) values ($1, $1, $2)", [model, hash]);
}

/**
 * Eve has two of everything, so that all her lists have a second page. Imported models belong to the installation, so
 * their list is the same for all.
 */
async function fill(query: (text: string, values?: unknown[]) => never): Promise<void> {
  for (const path of ["replay/studio", "replay/clip"]) await insertImportedModel(query, path);
  const her = createHttpCaller({ ...api, key: eve.key });
  const image = await sharp({ create: { width: 32, height: 32, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  for (let n = 0; n < 2; n++) {
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(image)], { type: "image/png" }), "a.png");
    const upload = (await her.post("/upload", form)).body.data;
    theirs.run = upload.run_id;
    theirs.file = upload.image_url;
    theirs.prompt = (await her.post("/prompts", { name: "secret", text: "secret" })).body.id;
    theirs.key = (await her.post("/keys", { name: "secret", scopes: ["runs:read"] })).body.id;
    const about = { tenant_id: eve.tenant_id, owner: "eve", visibility: "tenant" as const };
    theirs.model = await insertTestModel({ query: async (text, values) => query(text, values) }, about);
    theirs.member = `secret-${n}`;
    await her.post("/members", { user_id: theirs.member, role: "viewer" });
    await her.send("POST", `/api/v1/models/${theirs.model}/grants`, { body: { user_id: `friend-${n}` } });
    await her.send("POST", `/api/v1/models/${theirs.model}/grants`, { body: { user_id: `other-${n}` } });
    theirs.budget = (await her.post("/budgets", { of: { customer: `secret-${n}` }, spend_per_day: 1 })).body.id;
    theirs.webhook = (await her.post("/webhooks", { url: "https://example.com/secret" })).body.id;
    theirs.listener = (await her.post("/webhooks/listeners", { name: "secret" })).body.id;
    theirs.delivery = (await her.post(`/webhooks/${theirs.webhook}/test`, {})).body.id;
  }
  theirs.tenant = eve.tenant_id;
  for (const { http, name } of baseOperations.filter((operation) => "cursor" in operation.input.shape)) {
    const path = http.path.replace(":model_id", theirs.model!);
    const key = /^(tenants|admin)\./.test(name) ? undefined : eve.key;
    cursors[name] = key ? (await createHttpCaller({ ...api, key }).get(`${path}?limit=1`)).body.next_cursor : "x";
    expect([name, typeof cursors[name]]).toEqual([name, "string"]);
  }
}

/** A cursor is used in a list that Ann may read; the list of a model's grants needs a model of hers. */
const foreign = (kind: string, { operation }: IdField) =>
  kind === "cursor" ? cursors[operation.name]! : theirs[kind]!;
const walked = positions.filter(
  ({ operation, kind }) => !(kind === "cursor" && /^(tenants\.list|models\.grants\.list)$/.test(operation.name)),
);
const bad = (cells: IsolationResult[]) => cells.filter(({ outcome: verdict }) => verdict !== "good");
const countRows = async () =>
  database.owner.query(
    "walk.count",
    "select (select count(*) from runs)::int as runs, (select count(*) from api_keys)::int as keys, (select count(*) from models)::int as models",
  );

describe("another tenant's IDs", () => {
  it("are tested in every operation that takes an ID; the other operations are listed", () => {
    const without = baseOperations.filter((operation) => !walked.some((position) => position.operation === operation));
    expect(without.map(({ name }) => name).sort()).toEqual([
      ...[
        "admin.pauses",
        "admin.rebuild",
        "admin.setAsideEvents",
        "admin.workers",
        "budgets.create",
        "catalogue.get",
        "catalogue.getModel",
        "me.get",
        "members.add",
        "models.create",
        "prompts.create",
        "prompts.enhance",
      ],
      ...["provenance.verify", "runs.cancelAll", "runs.create", "runs.estimate"],
      ...[
        "system.connectProvider",
        "system.get",
        "system.importModel",
        "system.removeModel",
        "tenants.create",
        "tenants.list",
        "tokens.create",
        "usage.get",
        "webhooks.create",
      ],
      ...["webhooks.listeners.create", "webhooks.secret.rotate", "webhooks.trigger"],
    ]);
    expect(walked.length * 3).toBeGreaterThan(200);
  });

  it("are refused as files of an imported model, which has fields of its own for them", async () => {
    const ann = createHttpCaller({ ...api, key: credentials[0]!.key });
    const ask = async (image: unknown) => {
      const input = { prompt: "a copy", image_urls: [image] };
      const { status, body } = await ann.post("/runs", { model: "sandbox:replay/studio", input });
      return [status, body.code];
    };
    const unknown = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
    for (const [known, none] of [
      [theirs.run, unknown],
      [{ run_id: theirs.run }, { run_id: unknown }],
      [`asset:${theirs.file!.match(/[0-9a-f-]{36}/)![0]}`, `asset:${unknown}`],
    ])
      expect(await ask(known)).toEqual(await ask(none));
    expect((await ask(theirs.run))[0]).toBe(404);
  });

  it("are refused everywhere, with the response of an unknown ID, and change nothing", async () => {
    const before = await countRows();
    const cells = await checkIsolation(api, credentials, walked, foreign);
    expect(bad(cells)).toEqual([]);
    expect(await countRows()).toEqual(before);
    console.log(`${cells.length} cells: ${walked.length} places, ${credentials.length} credentials`);
  });

  it("are rejected by row-level security alone, and not once it is off", async () => {
    const count = { rewritten: 0 };
    const second = await startTestApi(database, env, (db) => withoutTenantFilters(db, count));
    try {
      expect(bad(await checkIsolation(second, credentials.slice(0, 1), walked, foreign))).toEqual([]);
      expect(count.rewritten).toBeGreaterThan(100);
    } finally {
      await second.close();
    }
    const open = (db: Database): Database => ({ ...db, forTenant: () => open(db) });
    const none = await startTestApi(database, env, (db) => open(withoutTenantFilters(db, count)));
    try {
      const reads = walked.filter(
        ({ operation, kind, isFilter }) =>
          operation.http.method === "GET" && !isFilter && kind !== "cursor" && kind !== "tenant",
      );
      const leaks = bad(await checkIsolation(none, credentials.slice(0, 1), reads, foreign));
      expect(leaks.length).toBe(reads.length);
    } finally {
      await none.close();
    }
  });
});

describe("outside of operation inputs", () => {
  it("an idempotency key belongs to one tenant: a request of another tenant does not replay its run", async () => {
    const creating = baseOperations.filter(({ http }) => http.method === "POST" && http.bodies?.includes("json"));
    for (const { name, http, example } of creating) {
      if (http.path.includes(":") || /^(tenants|admin)\./.test(name)) continue;
      const key = `walk-${name}`;
      await database.owner.query(
        "walk.used",
        `insert into idempotency_keys (tenant_id, key, fingerprint, resource_kind, resource_id, caller_id)
         select $1, $2, $3, 'run', $4, key_id from api_keys where digest = sha256(convert_to($5, 'UTF8'))`,
        [eve.tenant_id, key, Buffer.alloc(32), theirs.run, ann.key],
      );
      const response = await createHttpCaller({ ...api, key: ann.key }).post(http.path, example, {
        "idempotency-key": key,
        prefer: "wait=0",
      });
      expect([name, response.headers.get("idempotent-replayed")]).toEqual([name, null]);
      expect([name, response.body.code]).not.toEqual([name, "idempotency_key_reused"]);
      expect(JSON.stringify(response.body)).not.toContain(theirs.run);
    }
  });

  it("a file needs the signature of its own URL; with another signature or none it is not found", async () => {
    const [id = "", signature = ""] = theirs.file!.split("/").slice(-2);
    const read = async (path: string) => {
      const response = await fetch(`${api.url}/files/${path}`);
      const body = (await response.json()) as { code: string; details: { request_id: string } };
      return JSON.stringify({ status: response.status, ...body }).replaceAll(body.details.request_id, "");
    };
    const forged = `${signature.slice(0, 2) === "AA" ? "BB" : "AA"}${signature.slice(2)}`;
    expect(await read(`${id}/${forged}`)).toBe(await read(`${v7()}/${signature}`));
    expect(JSON.parse(await read(`${id}/${forged}`))).toMatchObject({ status: 404, code: "asset_not_found" });
  });
});
