// Authentication under attack and under load: malformed credentials cost no query, revoked ones are rejected, scopes
// stay narrow.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/access/api-key.ts";
import { type ApiResponse, createHttpCaller } from "../support/api-caller.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { createTestTenant, type TestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let environment: TestEnvironment;
let ann: TestTenant;
beforeAll(async () => {
  environment = await startTestEnvironment();
  ann = await createTestTenant(environment, { user_id: "ann" });
});
afterAll(() => environment?.stop());

const reported = ({ status, body }: ApiResponse) => [status, body.code];
const status = async (headers: Record<string, string>, path = "/runs?limit=1") =>
  (await fetch(`${environment.url}/api/v1${path}`, { headers })).status;

const SQL = [
  "' OR (SELECT pg_sleep(8)) IS NOT NULL --",
  "';select pg_sleep(8)--",
  "gsk_' or '1'='1",
  "\\'; drop table runs",
];

/** Credentials that are none, of every kind that one can think of; headers carry visible characters only. */
function malformed(count: number): string[] {
  const roll = createSeededRandom(7788);
  const visible = (length: number) => Array.from({ length }, () => String.fromCharCode(33 + roll(94))).join("");
  const kinds: (() => string)[] = [
    () => visible(1 + roll(200)),
    () => `gsk_${visible(46)}`,
    () => {
      const key = generateApiKey();
      const at = 4 + roll(46);
      return `${key.slice(0, at)}${key[at] === "0" ? "1" : "0"}${key.slice(at + 1)}`;
    },
    () => generateApiKey().slice(0, roll(50)) || "x",
    () => `${generateApiKey()}${visible(1 + roll(5))}`,
    () => generateApiKey().toUpperCase(),
    () => generateApiKey().replace("gsk_", "gsk-"),
    () => SQL[roll(SQL.length)]!,
    () => "a".repeat(1 + roll(4000)),
    () => `${visible(10)}.${visible(10).replaceAll(".", "")}`,
  ];
  return Array.from({ length: count }, (_, n) => kinds[n % kinds.length]!());
}

describe("a malformed credential", () => {
  it("is refused a thousand times without one database query", async () => {
    await environment.query("alter system set log_statement = 'all'");
    await environment.query("select pg_reload_conf()");
    const log = join(dirname(environment.storageDir), "postgres", "postgres.log");
    const input = () => [...readFileSync(log, "utf8").matchAll(/execute keys\.(find_holder|record_use)/g)].length;
    // Each process of PostgreSQL reads the setting a moment later.
    const askWithUnknownKey = async () => {
      await createHttpCaller({ ...environment, key: generateApiKey() }).get("/runs");
      return input();
    };
    await expect.poll(askWithUnknownKey, { timeout: 300_000 }).toBeGreaterThan(0);
    const before = input();
    const credentials = malformed(1000);
    const seen = new Map<number, number>();
    const ask = async (worker: number) => {
      for (let n = worker; n < credentials.length; n += 20) {
        const text = credentials[n]!;
        const response = await status(n % 2 ? { "x-api-key": text } : { authorization: `Bearer ${text}` });
        seen.set(response, (seen.get(response) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, worker) => ask(worker)));
    expect([...seen]).toEqual([[401, 1000]]);
    expect(input()).toBe(before);
    await environment.query("alter system reset log_statement");
    await environment.query("select pg_reload_conf()");
  });

  it("that is well-formed and unknown is rejected as a malformed one is", async () => {
    const responses = await Promise.all(Array.from({ length: 100 }, () => status({ "x-api-key": generateApiKey() })));
    expect(new Set(responses)).toEqual(new Set([401]));
  });

  it("in a URL is rejected, whatever the headers contain", async () => {
    for (const name of ["api_key", "token", "access_token"]) {
      const response = await ann.caller.get(`/runs?${name}=${ann.key}`);
      expect([name, ...reported(response)]).toEqual([name, 400, "validation_error"]);
      expect(JSON.stringify(response.body)).not.toContain(ann.key);
    }
  });

  it("beside another that differs is refused, token or key", async () => {
    const token = (await ann.caller.post("/tokens", TOKEN_REQUEST)).body.access_token;
    const both = { authorization: `Bearer ${token}`, "x-api-key": ann.key };
    expect(await status(both)).toBe(400);
    expect(await status({ authorization: `Bearer ${ann.key}`, "x-api-key": ann.key })).toBe(200);
    expect(await status({ "x-api-key": token })).toBe(401);
  });
});

describe("a key that another process revokes", () => {
  it("is refused while it is in use, and stays so", async () => {
    const { key, key_id } = await createTestTenant(environment, { tenantId: ann.tenant_id, user_id: "ann" });
    const ask = () => status({ "x-api-key": key });
    expect(await ask()).toBe(200);
    // Directly in the database, so that the process under test gets no notification.
    await environment.query("update api_keys set revoked_at = now() where key_id = $1", [key_id]);
    // The cached key expires although every request uses it; expiring-cache.test.ts holds the seconds.
    const seen = new Set<number>();
    while (!seen.has(401)) {
      seen.add(await ask());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect([...seen].filter((code) => code !== 200 && code !== 401)).toEqual([]);
    const later = await Promise.all(Array.from({ length: 50 }, ask));
    expect(new Set(later)).toEqual(new Set([401]));
  });
});

describe("scopes for managing keys", () => {
  // Another key of the tenant has the scope keys:read, and so has the requested one.
  const [yes, no] = ["may", "insufficient_scope"];
  const TABLE: Record<string, string[]> = {
    //              create list get update rotate revoke
    "*": [yes, yes, yes, yes, yes, yes],
    "*:read": [no, yes, yes, no, no, no],
    "keys:*": [yes, yes, yes, yes, yes, yes],
    "keys:write": [no, no, no, no, no, no],
    "keys:read": [no, yes, yes, no, no, no],
    "images:*": [no, no, no, no, no, no],
    "images:write": [no, no, no, no, no, no],
    "runs:read": [no, no, no, no, no, no],
    "tokens:write": [no, no, no, no, no, no],
    "members:write": [no, no, no, no, no, no],
    "prompts:*": [no, no, no, no, no, no],
    "tenants:*": [no, no, no, no, no, no],
  };

  it.each(Object.entries(TABLE))("%s", async (scope, expected) => {
    const { caller } = await createTestTenant(environment, {
      tenantId: ann.tenant_id,
      user_id: "ann",
      scopes: [scope],
    });
    const target = async () =>
      (await createTestTenant(environment, { tenantId: ann.tenant_id, user_id: "ann", scopes: ["keys:read"] })).key_id;
    const responses = [
      await caller.post("/keys", { name: "x", scopes: ["keys:read"] }),
      await caller.get("/keys"),
      await caller.get(`/keys/${await target()}`),
      await caller.send("PATCH", `/api/v1/keys/${await target()}`, { body: { name: "y" } }),
      await caller.post(`/keys/${await target()}/rotate`, {}),
      await caller.delete(`/keys/${await target()}`),
    ];
    expect(responses.map((response) => (response.status < 300 ? "may" : response.body.code))).toEqual(expected);
  });
});
