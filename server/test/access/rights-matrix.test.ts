// Every operation with every kind of credential: who may call it follows from the declaration of the operation and from
// what the credential says. The expectation is computed here anew, and not by the code that decides.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Operation } from "../../src/contract/operation.ts";
import { callByPost } from "../mcp/mcp-clients.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, type TestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { baseOperations } from "./id-fields.ts";
import { startTestApi, type TestApi } from "./isolation.ts";

const storage = mkdtempSync(join(tmpdir(), "gesso-rights-"));
const OWN_PAGE = { "sec-fetch-site": "same-origin", "x-gesso-console": "1" };
const CALLER_SCOPES = ["images:write", "runs:read", "keys:read"];
const MISSING = "that does not exist";
let database: TestDatabase;
let api: TestApi;

/** What a credential may do, as its owner would say it. `way`: how it reaches the operations. */
type Rights = { scopes: readonly string[]; role: "owner" | "developer" | "viewer"; way: Way };
type Way = "http" | "recent session" | "old session" | "mcp";
/** `tenant_id`: of the members of the first tenant. `end_user`: of a token. */
type Credential = Rights & { name: string; secret: string; tenant_id?: string; end_user?: string };
const credentials: Credential[] = [];
/** Runs with their owners. Without a tenant, only the operator may see it. */
const runs: { name: string; run_id: string; tenant_id?: string; end_user?: string }[] = [];

const query = async (text: string, values: unknown[] = []) =>
  database.owner.query(`rights.${text.length}`, text, values) as never;

beforeAll(async () => {
  database = await startTestDatabase();
  api = await startTestApi(database, { STORAGE_DIR: storage });
  const newKey = ({ scopes = ["*"], role = "owner" }: Partial<Rights>, tenantId = v7()) =>
    createTestTenant({ url: api.url, query }, { scopes: [...scopes], role, tenantId, user_id: `user-${v7()}` });
  const add = (
    name: string,
    secret: string,
    { scopes = ["*"], role = "owner", way = "http", ...of }: Partial<Credential> = {},
  ) => void credentials.push({ name, secret, scopes, role, way, ...of });
  const owner = await newKey({});
  const { tenant_id } = owner;
  add("owner", owner.key, { tenant_id });
  for (const role of ["developer", "viewer"] as const)
    add(role, (await newKey({ role }, tenant_id)).key, { role, tenant_id });
  const few = { scopes: CALLER_SCOPES };
  add("key with few scopes", (await newKey(few, tenant_id)).key, { ...few, tenant_id });
  const child = await createHttpCaller({ ...api, key: owner.key }).post("/keys", { name: "child", ...few });
  add("child key", child.body.key, { ...few, tenant_id });
  for (const end_user of ["alice", "bob"])
    add(`token of ${end_user}`, await newToken(owner, end_user), { scopes: TOKEN_REQUEST.scopes, tenant_id, end_user });
  const operator = { scopes: ["*", "tenants:*"] };
  add("operator", (await newKey(operator)).key, operator);
  const breakGlass = { scopes: ["tenants:*", "content:read"] };
  add("operator who may read content", (await newKey(breakGlass)).key, breakGlass);
  const agent = await newKey(operator);
  add("agent", agent.key, { ...operator, way: "mcp" });
  const manager = { scopes: ["*", "tenants:*", "agents:write"] };
  add("agent that may manage", (await newKey(manager)).key, { ...manager, way: "mcp" });
  add("recent session", await newSession(await newKey(operator)), { ...operator, way: "recent session" });
  const old = await newKey(operator);
  add("old session", await newSession(old), { ...operator, way: "old session" });
  runs.push({ name: "of no end user", tenant_id, run_id: await upload(owner.key) });
  for (const { end_user, secret } of credentials.filter((each) => each.end_user))
    runs.push({ name: `of ${end_user}`, tenant_id, end_user: end_user!, run_id: await upload(secret) });
  runs.push({ name: "of another tenant", run_id: await upload((await newKey({})).key) });
  runs.push({ name: MISSING, run_id: v7() });
  await query("update console_sessions set last_login_at = now() - interval '2 hours' where tenant_id = $1", [
    old.tenant_id,
  ]);
});
afterAll(async () => {
  await api?.close();
  await database?.stop();
  rmSync(storage, { recursive: true, force: true });
});

const newToken = async ({ key }: TestTenant, end_user: string): Promise<string> =>
  (await createHttpCaller({ ...api, key }).post("/tokens", { ...TOKEN_REQUEST, end_user, expires_in: 3600 })).body
    .access_token;

async function upload(key: string): Promise<string> {
  const image = sharp({ create: { width: 32, height: 32, channels: 3, background: "teal" } });
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(await image.png().toBuffer())], { type: "image/png" }), "a.png");
  return (await createHttpCaller({ ...api, key }).post("/upload", form)).body.data.run_id;
}

async function newSession({ key }: TestTenant): Promise<string> {
  const response = await fetch(`${api.url}/console/session`, {
    method: "POST",
    headers: { ...OWN_PAGE, "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });
  expect(response.status).toBe(201);
  return response.headers.getSetCookie()[0]!.split(";")[0]!;
}

const RESOURCES: Record<string, string> = {
  generateVideo: "videos",
  edit: "images",
  system: "tenants",
  admin: "tenants",
};
const BY_NAME = ["tenants", "agents", "content"];
/** Scopes that a role does not have, whatever the credential says. */
const DENIED = {
  owner: [],
  developer: [/^members:write/, /^audit:/, /^tenants:/],
  viewer: [/:write$/, /^audit:/, /^tenants:/],
};

function covers(own: string, wanted: string): boolean {
  const [[resource, action = "*"], [wantedResource, wantedAction]] = [own.split(":"), wanted.split(":")];
  if (resource === "*" && BY_NAME.includes(wantedResource!)) return false;
  return (resource === "*" || resource === wantedResource) && (action === "*" || action === wantedAction);
}

/** The refusal that a credential must get, or "passed". */
function expectedOf(operation: Operation, { scopes, role, way }: Rights): string {
  const { name, http, changes, isUrgent, returnsContent } = operation;
  const group = name.split(".")[0]!;
  if (group === "me") return "passed";
  const scope = `${RESOURCES[group] ?? group}:${http.method === "GET" ? "read" : "write"}`;
  const isOperators = scope.startsWith("tenants:");
  const wanted = [scope, ...(returnsContent ? ["content:read"] : [])];
  if (wanted.some((each) => !scopes.some((own) => covers(own, each)))) return "insufficient_scope";
  if (DENIED[role].some((denied) => denied.test(scope))) return "permission_denied";
  const isAgent = way === "mcp" && (changes !== undefined || isOperators);
  if (isAgent && !scopes.includes("agents:write")) return "insufficient_scope";
  const needsLogin = (changes && !isUrgent) || returnsContent || (isOperators && http.method !== "GET");
  return way === "old session" && needsLogin ? "login_too_old" : "passed";
}

const REFUSALS = ["insufficient_scope", "permission_denied", "login_too_old"];

/** A field that no operation has: what is permitted is invalid, so that nothing changes. */
const INVALID = { not_a_field: true };

type Response = { status: number; code: string | undefined };

async function send(operation: Operation, { secret, way }: Credential, input: object, runId = v7()): Promise<Response> {
  const { method, path, bodies } = operation.http;
  if (way === "mcp") {
    const takesRun = path.includes(":run_id");
    const args = { operation: operation.name, input: { ...input, ...(takesRun && { run_id: runId }) } };
    const { status, text } = await callByPost({ ...api, key: secret }, "call_operation", args);
    expect([operation.name, text]).toEqual([operation.name, expect.stringContaining('"content"')]);
    const code = /"isError":true/.test(text) ? /\((\w+)\)/.exec(text)?.[1] : undefined;
    return { status: code === "run_not_found" ? 404 : status, code };
  }
  const place = path
    .replace(":run_id", runId)
    .replace(/:(\w+)/g, (_, name) => (name === "user_id" ? "no-such-user" : v7()));
  const isSession = way !== "http";
  const headers: Record<string, string> = isSession
    ? { ...OWN_PAGE, cookie: secret }
    : { authorization: `Bearer ${secret}` };
  const fields = bodies
    ? ""
    : `?${new URLSearchParams(Object.entries(input).map(([name, value]) => [name, `${value}`]))}`;
  const isJson = bodies?.includes("json");
  const response = await fetch(`${api.url}${isSession ? "/console/api/v1" : "/api/v1"}${place}${fields}`, {
    method,
    headers: { ...headers, ...(isJson && { "content-type": "application/json" }) },
    ...(bodies && { body: isJson ? JSON.stringify(input) : emptyForm() }),
  });
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) await response.body?.cancel();
  return { status: response.status, code: type.includes("json") ? (await response.json()).code : undefined };
}

async function findRefusal(operation: Operation, credential: Credential): Promise<string> {
  const { status, code } = await send(operation, credential, INVALID);
  if (code && REFUSALS.includes(code)) return code;
  // Any other failure than an invalid or unknown value would hide what is permitted.
  expect([200, 201, 202, 400, 404, 409], `${operation.name} ${code}`).toContain(status);
  return "passed";
}

function emptyForm(): FormData {
  const form = new FormData();
  form.set("not_a_field", "true");
  return form;
}

/** Streams and files have no way through MCP. */
const hasTool = ({ events, http }: Operation) => !events && (!http.bodies || http.bodies.includes("json"));

it("a credential may call an operation exactly if its scopes, its role, its login and its way to the API permit it", async () => {
  const cells: { cell: string; expected: string; found: string }[] = [];
  for (const credential of credentials)
    for (const operation of baseOperations) {
      if (credential.way === "mcp" && !hasTool(operation)) continue;
      const found = await findRefusal(operation, credential);
      const expected = expectedOf(operation, credential);
      cells.push({ cell: `${operation.name}, ${credential.name}`, expected, found });
    }
  expect(cells.filter(({ expected, found }) => expected !== found)).toEqual([]);
  // Every refusal is among the expectations, or the table would say nothing about it.
  expect(new Set(cells.map(({ expected }) => expected))).toEqual(new Set([...REFUSALS, "passed"]));
  expect(cells.length).toBeGreaterThan(1300);
  console.log(`${cells.length} cells: ${baseOperations.length} operations, ${credentials.length} credentials`);
});

it("a run is seen by the credentials of its tenant, or of its end user where they have one, and its state by the operator", async () => {
  const readings = baseOperations.filter(({ http }) => http.method === "GET" && http.path.includes(":run_id"));
  const cells: { cell: string; expected: number; found: number }[] = [];
  for (const credential of credentials)
    for (const operation of readings) {
      if (credential.way === "mcp" && !hasTool(operation)) continue;
      if (expectedOf(operation, credential) !== "passed") continue;
      for (const run of runs) {
        const isTenants = run.tenant_id !== undefined && run.tenant_id === credential.tenant_id;
        const isOwn = isTenants && (credential.end_user === undefined || credential.end_user === run.end_user);
        // The operator sees the state of every run, not its content.
        const isSeen = operation.name.startsWith("admin.") ? run.name !== MISSING : isOwn;
        const { status } = await send(operation, credential, {}, run.run_id);
        cells.push({
          cell: `${operation.name}, ${credential.name}, run ${run.name}`,
          expected: isSeen ? 200 : 404,
          found: status,
        });
      }
    }
  expect(cells.filter(({ expected, found }) => expected !== found)).toEqual([]);
  expect(cells.filter(({ expected }) => expected === 200).length).toBeGreaterThan(50);
  console.log(`${cells.length} cells: ${readings.length} operations, ${runs.length} runs`);
});

/** The image API for OpenAI's clients. What creates images needs their scope; the list shows what may be created. */
const OPENAI_ROUTES = [
  ...["generations", "edits", "variations"].map((endpoint) => ({ method: "POST", path: `images/${endpoint}` })),
  { method: "GET", path: "models" },
  { method: "GET", path: "models/flux-dev" },
];

it("an OpenAI client may create images, and see models, exactly if its credential may create images by the API", async () => {
  const cells: { cell: string; expected: unknown; found: unknown }[] = [];
  for (const { name, secret, scopes, role } of credentials.filter(({ way }) => way === "http"))
    for (const { method, path } of OPENAI_ROUTES) {
      const response = await fetch(`${api.url}/openai/v1/${path}`, {
        method,
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        // Invalid for every endpoint, so that what is permitted creates nothing.
        ...(method === "POST" && { body: JSON.stringify({ prompt: 7, image: 7 }) }),
      });
      const { error, data } = (await response.json()) as { error?: { code: string }; data?: unknown[] };
      const hasScope = scopes.some((own) => covers(own, "images:write"));
      const mayCreate = hasScope && role !== "viewer";
      const found = { status: response.status, code: error?.code, hasModels: data && data.length > 0 };
      const refusal = hasScope ? "permission_denied" : "insufficient_scope";
      const expectedOfPost = mayCreate ? { status: 400, code: expect.any(String) } : { status: 403, code: refusal };
      const expectedOfModel = mayCreate ? { status: 200 } : { status: 404, code: "model_not_found" };
      const expected =
        method === "POST"
          ? expectedOfPost
          : path === "models"
            ? { status: 200, hasModels: mayCreate }
            : expectedOfModel;
      cells.push({ cell: `${method} ${path}, ${name}`, expected, found });
    }
  for (const { cell, expected, found } of cells) expect(found, cell).toEqual(expected);
  expect(cells.length).toBeGreaterThan(40);
  console.log(`${cells.length} cells: ${OPENAI_ROUTES.length} routes of OpenAI's image API`);
});
