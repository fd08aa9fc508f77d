// The console over HTTP: the ways in, the session cookie as a credential, and the files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/access/api-key.ts";
import { operations } from "../../src/operations/all.ts";
import { createTestTenant, OPERATOR_SCOPES, type TenantOptions, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestApi, type TestApi } from "./isolation.ts";

let [database, api, apiWithoutConsole] = [] as unknown as [TestDatabase, TestApi, TestApi];
const root = mkdtempSync(join(tmpdir(), "gesso-console-"));
const folder = join(root, "dist");

beforeAll(async () => {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "outside the folder");
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>Console</title>");
  writeFileSync(join(folder, "assets", "index-DiwrgTda.js"), "export {};".repeat(500));
  writeFileSync(join(folder, "favicon.svg"), "<svg/>");
  database = await startTestDatabase();
  const env = { STORAGE_DIR: join(root, "storage"), TRUSTED_PROXIES: "127.0.0.1" };
  api = await startTestApi(database, env, undefined, folder);
  apiWithoutConsole = await startTestApi(database, { ...env, CONSOLE: "off" }, undefined, folder);
});
afterAll(async () => {
  await api?.close();
  await apiWithoutConsole?.close();
  await database?.stop();
  rmSync(root, { recursive: true, force: true });
});

const query = async <R>(text: string, values: unknown[] = []): Promise<R[]> =>
  (await database.owner.query(v7(), text, values)) as R[];
const createKey = (options: TenantOptions = {}) => createTestTenant({ url: "", query } as never, options);

/** What a browser and the console's own script add to a request. */
const OWN_PAGE = { "sec-fetch-site": "same-origin", "x-gesso-console": "1" };
type Options = { cookie?: string; body?: unknown; headers?: Record<string, string>; to?: TestApi };
async function send(method: string, path: string, { cookie, body, headers = OWN_PAGE, to = api }: Options = {}) {
  const isJson = body !== undefined && typeof body !== "string";
  const response = await fetch(`${to.url}${path}`, {
    method,
    redirect: "manual",
    headers: { ...headers, ...(cookie && { cookie }), ...(isJson && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as string) }),
  });
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: type.includes("json") ? JSON.parse(text) : {},
  };
}
const outcome = async (response: ReturnType<typeof send>) => {
  const { status, body } = await response;
  return [status, body.code];
};
const cookieOf = (headers: Headers) => headers.getSetCookie()[0]!.split(";")[0]!;

async function signIn(options: TenantOptions = {}) {
  const tenant = await createKey(options);
  const response = await send("POST", "/console/session", { body: { key: tenant.key } });
  expect(response.status).toBe(201);
  return { ...tenant, response, cookie: cookieOf(response.headers) };
}
const countRuns = async (tenantId: string) =>
  (await query<{ n: number }>("select count(*)::int as n from runs where tenant_id = $1", [tenantId]))[0]!.n;
const SMALL = { prompt: "a key", width: 64, height: 64 };

describe("signing in with an API key", () => {
  it("sets a cookie that scripts and other sites cannot use, and returns no key", async () => {
    const { key, response } = await signIn();
    const [cookie] = response.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-gesso=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=604800$/,
    );
    expect(response.text).not.toContain(key);
    expect(response.text).not.toContain(cookie!.slice(13, 56));
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.body).toMatchObject({ method: "key", is_current: true, issuer: null });
  });

  it("tells a wrong key with a request id, and refuses the sixth wrong one of an address within a minute", async () => {
    const headers = { ...OWN_PAGE, "x-forwarded-for": "203.0.113.7" };
    const attempt = (key: string) => send("POST", "/console/session", { body: { key }, headers });
    for (const key of [generateApiKey(), generateApiKey(), "gsk_x", "not a key", generateApiKey()]) {
      const { status, body } = await attempt(key);
      expect([status, body.code]).toEqual([401, "invalid_api_key"]);
      expect(body.details.request_id).toMatch(/^req_/);
    }
    const sixth = await attempt(generateApiKey());
    expect(sixth).toMatchObject({ status: 429, body: { code: "rate_limited", details: { policy: "sign-in" } } });
    expect(Number(sixth.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(sixth.headers.getSetCookie()).toEqual([]);
  });

  it("accepts a right key although others at the same address, such as that of a proxy, tried wrong ones", async () => {
    const headers = { ...OWN_PAGE, "x-forwarded-for": "203.0.113.8" };
    const attempt = (key: string) => send("POST", "/console/session", { body: { key }, headers });
    for (const status of [401, 401, 401, 401, 401, 429]) expect((await attempt(generateApiKey())).status).toBe(status);
    expect((await attempt((await createKey()).key)).status).toBe(201);
  });

  it("refuses a token, and anything but one code or key", async () => {
    const { key } = await createKey();
    const token = await send("POST", "/api/v1/tokens", {
      body: { ...TOKEN_REQUEST, expires_in: 60 },
      headers: { authorization: `Bearer ${key}` },
    });
    const post = (body: unknown) => outcome(send("POST", "/console/session", { body }));
    expect(await post({ key: token.body.access_token })).toEqual([401, "invalid_api_key"]);
    for (const body of [{}, { key, code: "x" }, { key: 1 }, [], { key: "x".repeat(600) }])
      expect(await post(body)).toEqual([400, "validation_error"]);
    expect(await post({ key: "x".repeat(5000) })).toEqual([413, "payload_too_large"]);
  });
});

describe("signing in with a one-time code", () => {
  const createCode = (key: string, headers: Record<string, string> = {}) =>
    send("POST", "/console/codes", { headers: { authorization: `Bearer ${key}`, ...headers } });

  it("works once, and neither the link nor a response contains the key", async () => {
    const { key, key_id } = await createKey();
    const created = await createCode(key);
    expect(created).toMatchObject({ status: 201, body: { expires_in: 60 } });
    expect(created.body.url).toBe(`http://127.0.0.1:7788/console#in=${created.body.code}`);
    const exchange = () => send("POST", "/console/session", { body: { code: created.body.code } });
    const first = await exchange();
    expect(first).toMatchObject({ status: 201, body: { method: "code", key_id } });
    for (const { text } of [created, first]) expect(text).not.toContain(key);
    expect(await outcome(exchange())).toEqual([401, "sign_in_code_invalid"]);
  });

  it("is refused through a proxy, after its time, and for a code that a session asks for", async () => {
    const { key, cookie } = await signIn();
    const forwarded = { "x-forwarded-for": "203.0.113.8" };
    expect(await outcome(createCode(key, forwarded))).toEqual([404, "route_not_found"]);
    expect(await outcome(send("POST", "/console/codes", { cookie }))).toEqual([401, "authentication_required"]);
    const { code } = (await createCode(key)).body;
    const headers = { ...OWN_PAGE, ...forwarded };
    expect(await outcome(send("POST", "/console/session", { body: { code }, headers }))).toEqual([
      404,
      "route_not_found",
    ]);
    await query("update console_codes set expires_at = now() - interval '1 second'");
    expect(await outcome(send("POST", "/console/session", { body: { code } }))).toEqual([401, "sign_in_code_invalid"]);
  });
});

describe("the session cookie", () => {
  it("is the credential of every operation below /console/api/v1, for requests of the own page only", async () => {
    for (const { name, http } of operations.filter(({ variantOf }) => !variantOf)) {
      const path = `/console/api/v1${http.path.replace(/:\w+/g, () => v7())}`;
      const [own, foreign] = [
        await send(http.method, path),
        await send(http.method, path, { headers: { "sec-fetch-site": "cross-site" } }),
      ];
      const outcomes = [name, own.status, own.body.code, foreign.status, foreign.body.code];
      expect(outcomes).toEqual([name, 401, "session_required", 403, "cross_site_request"]);
      expect(own.headers.has("access-control-allow-origin")).toBe(false);
    }
    const { cookie, tenant_id, key_id } = await signIn({ user_id: "ada", role: "developer", scopes: ["runs:read"] });
    const me = await send("GET", "/console/api/v1/me", { cookie });
    expect(me.body).toMatchObject({
      ...{ user_id: "ada", role: "developer", tenant: { id: tenant_id } },
      credential: { kind: "session", key_id, scopes: ["runs:read"] },
    });
    expect(me.headers.get("cache-control")).toBe("no-store");
    expect(await outcome(send("POST", "/console/api/v1/runs/generate", { cookie, body: SMALL }))).toEqual([
      403,
      "insufficient_scope",
    ]);
  });

  it("is no credential for /api/v1", async () => {
    const { cookie } = await signIn();
    for (const headers of [OWN_PAGE, {}])
      expect(await outcome(send("GET", "/api/v1/runs", { cookie, headers }))).toEqual([401, "authentication_required"]);
  });

  it("creates no run for a form or a script of another origin", async () => {
    const { cookie, tenant_id } = await signIn();
    const path = "/console/api/v1/runs/generate";
    const form = { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.example.com" };
    for (const headers of [
      { ...form, "sec-fetch-site": "cross-site" },
      form,
      { "content-type": "text/plain", "sec-fetch-site": "same-site" },
      { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      { "content-type": "application/json", "x-gesso-console": "1" },
    ] as Record<string, string>[]) {
      const body = JSON.stringify(SMALL);
      expect(await outcome(send("POST", path, { cookie, headers, body }))).toEqual([403, "cross_site_request"]);
    }
    const preflight = await send("OPTIONS", path, {
      headers: { origin: "https://evil.example.com", "access-control-request-method": "POST" },
    });
    expect(preflight.headers.has("access-control-allow-origin")).toBe(false);
    expect(await countRuns(tenant_id)).toBe(0);
    const accepted = await send("POST", path, { cookie, body: SMALL });
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get("location")).toBe(`/console/api/v1/runs/${accepted.body.run_id}`);
    expect(await countRuns(tenant_id)).toBe(1);
  });

  it("sees nothing of another tenant", async () => {
    const [one, other] = [await signIn(), await signIn()];
    const { body } = await send("POST", "/console/api/v1/runs/generate", { cookie: one.cookie, body: SMALL });
    const path = `/console/api/v1/runs/${body.run_id}`;
    expect((await send("GET", path, { cookie: one.cookie })).status).toBe(200);
    expect(await outcome(send("GET", path, { cookie: other.cookie }))).toEqual([404, "run_not_found"]);
    const session = `/console/sessions/${one.response.body.id}`;
    expect(await outcome(send("DELETE", session, { cookie: other.cookie }))).toEqual([404, "route_not_found"]);
    expect((await send("GET", "/console/session", { cookie: one.cookie })).status).toBe(200);
  });
});

describe("the end of a session", () => {
  it("comes at once by signing out, and the cookie is removed", async () => {
    const { cookie } = await signIn();
    const out = await send("DELETE", "/console/session", { cookie });
    expect([out.status, out.headers.getSetCookie()]).toEqual([
      204,
      ["__Host-gesso=; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=0"],
    ]);
    expect(await outcome(send("GET", "/console/session", { cookie }))).toEqual([401, "session_required"]);
    expect((await send("DELETE", "/console/session", { cookie })).status).toBe(204);
  });

  it("comes for one session from the list of another", async () => {
    const { key, cookie } = await signIn();
    const second = cookieOf((await send("POST", "/console/session", { body: { key } })).headers);
    const { data } = (await send("GET", "/console/sessions", { cookie })).body;
    expect(data.map((each: { is_current: boolean }) => each.is_current)).toEqual([false, true]);
    expect((await send("DELETE", `/console/sessions/${data[0].id}`, { cookie })).status).toBe(204);
    expect(await outcome(send("GET", "/console/session", { cookie: second }))).toEqual([401, "session_required"]);
    expect((await send("GET", "/console/session", { cookie })).status).toBe(200);
  });

  it("ends an open event stream after its key was revoked by another process", async () => {
    const { cookie, key_id } = await signIn();
    // What EventSource sends: it cannot set a header.
    const headers = { accept: "text/event-stream", "sec-fetch-site": "same-origin", cookie };
    const stream = await fetch(`${api.url}/console/api/v1/events`, { headers });
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    await query("update api_keys set revoked_at = now() where key_id = $1", [key_id]);
    for await (const _ of stream.body!);
    const again = await fetch(`${api.url}/console/api/v1/events`, { headers });
    expect([again.status, ((await again.json()) as { code: string }).code]).toEqual([401, "session_required"]);
  });
});

describe("operations that create credentials", () => {
  it("need a login of the last 10 minutes in a session, and a new sign-in permits them", async () => {
    const { key, key_id, cookie, response } = await signIn();
    // Before the first request, so that no earlier time is cached.
    await query("update console_sessions set last_login_at = now() - interval '11 minutes' where session_id = $1", [
      response.body.id,
    ]);
    const draft = { name: "web", scopes: ["runs:read"] };
    const create = (own: string) => send("POST", "/console/api/v1/keys", { cookie: own, body: draft });
    const refused = await create(cookie);
    expect(refused).toMatchObject({
      status: 403,
      body: { code: "login_too_old", details: { max_age_seconds: 600, method: "key" } },
    });
    expect((await send("GET", "/console/api/v1/keys", { cookie })).status).toBe(200);
    const again = await send("POST", "/console/session", { cookie, body: { key } });
    const renewed = cookieOf(again.headers);
    expect(await outcome(send("GET", "/console/session", { cookie }))).toEqual([401, "session_required"]);
    const created = await create(renewed);
    expect(created).toMatchObject({ status: 201, body: { key: expect.stringMatching(/^gsk_/) } });
    expect((await send("DELETE", `/console/api/v1/keys/${key_id}`, { cookie: renewed })).status).toBe(200);
    expect(await outcome(send("GET", "/console/session", { cookie: renewed }))).toEqual([401, "session_required"]);
  });
});

describe("repairs of the operator", () => {
  it("need a login of the last 10 minutes in a session, and none with a key", async () => {
    const { key, cookie, response } = await signIn({ scopes: OPERATOR_SCOPES });
    const provider = { provider: "sandbox" };
    const run = v7();
    const repairs: [path: string, body?: unknown][] = [
      ...([["/admin/pause", provider], ["/admin/resume", provider], ["/admin/rebuild"]] as [string, unknown?][]),
      ...["end", "retry", "quarantine"].map((verb): [string] => [`/admin/runs/${run}/${verb}`]),
      [`/admin/runs/${run}/settle`, { job: 0, try: 1, charged: 0 }],
      [`/admin/events/${run}/skip`],
    ];
    const repair = ([path, body]: (typeof repairs)[number]) =>
      outcome(send("POST", `/console/api/v1${path}`, { cookie, body }));
    expect(await repair(repairs[0]!)).toEqual([200, undefined]);
    await query("update console_sessions set last_login_at = now() - interval '2 hours' where session_id = $1", [
      response.body.id,
    ]);
    await expect.poll(() => repair(repairs[0]!), { timeout: 8000 }).toEqual([403, "login_too_old"]);
    for (const each of repairs) expect([each[0], ...(await repair(each))]).toEqual([each[0], 403, "login_too_old"]);
    expect((await send("GET", "/console/api/v1/admin/pauses", { cookie })).status).toBe(200);

    const headers = { authorization: `Bearer ${key}` };
    const resumed = await send("POST", "/api/v1/admin/resume", { body: provider, headers });
    expect([resumed.status, resumed.body.data]).toEqual([200, []]);
  });
});

describe("the files of the console", () => {
  const get = (path: string, headers: Record<string, string> = {}) => send("GET", path, { headers });

  it("have the security headers as a fixed text", async () => {
    for (const path of ["/console", "/console/", "/console/runs/x?tab=tree", "/console/assets/index-DiwrgTda.js"]) {
      const { status, headers } = await get(path);
      expect(status).toBe(200);
      const names = [
        ...["content-security-policy", "cross-origin-opener-policy", "cross-origin-resource-policy"],
        ...["x-content-type-options", "referrer-policy", "permissions-policy"],
      ];
      expect(Object.fromEntries(names.map((name) => [name, headers.get(name)]))).toEqual({
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data: http://127.0.0.1:7788; " +
          "media-src 'self' blob: http://127.0.0.1:7788; connect-src 'self'; font-src 'self'; form-action 'none'; " +
          "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
      });
    }
  });

  it("are cached forever if their name has a hash, and the page never; an unknown path is the page", async () => {
    const script = await get("/console/assets/index-DiwrgTda.js", { "accept-encoding": "gzip" });
    expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(script.text).toBe("export {};".repeat(500));
    for (const path of ["/console", "/console/", "/console/gallery", "/console/runs/abc.def", "/console/index.html"]) {
      const page = await get(path);
      expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(page.text).toContain("<title>Console</title>");
    }
    expect((await get("/console/favicon.svg")).headers.get("cache-control")).toBe("no-cache");
    const etag = script.headers.get("etag")!;
    const again = await get("/console/assets/index-DiwrgTda.js", { "accept-encoding": "gzip", "if-none-match": etag });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect((await send("HEAD", "/console/")).text).toBe("");
    expect(await outcome(get("/console/assets/index-00000000.js"))).toEqual([404, "route_not_found"]);
    expect(await outcome(get("/console/api/v1/unknown"))).toEqual([404, "route_not_found"]);
  });

  it("are those of the folder only, whatever the path", async () => {
    for (const path of [
      ...["/console/..%2fsecret.txt", "/console/%2e%2e/secret.txt", "/console/assets/..%2f..%2fsecret.txt"],
      ...["/console/..%5csecret.txt", "/console//secret.txt", "/console/assets%2f..%2f..%2fsecret.txt"],
    ]) {
      const { text } = await get(path);
      expect([path, text.includes("outside the folder")]).toEqual([path, false]);
    }
  });

  it("are replaced by a page that says how to build them if they are missing", async () => {
    const bare = await startTestApi(database, { STORAGE_DIR: join(root, "storage") });
    try {
      const page = await send("GET", "/console/", { to: bare });
      expect(page.status).toBe(200);
      expect(page.text).toContain("npm run -w console build");
      expect(page.headers.get("cache-control")).toBe("no-store");
    } finally {
      await bare.close();
    }
  });
});

it("says before the sign-in which ways in there are, and nothing secret", async () => {
  const { status, body, headers } = await send("GET", "/console/config.json", { headers: {} });
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(body).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    public_url: "http://127.0.0.1:7788",
    sign_in_methods: { code: true, key: true, oidc: [] },
  });
});

it("CONSOLE=off removes pages, sign-in and session credentials", async () => {
  const { cookie, key } = await signIn();
  const to = apiWithoutConsole;
  const requests: [string, string, Options][] = [
    ["GET", "/console", {}],
    ["GET", "/console/config.json", {}],
    ["POST", "/console/session", { body: { key } }],
    ["POST", "/console/codes", { headers: { authorization: `Bearer ${key}` } }],
    ["GET", "/console/api/v1/me", { cookie }],
  ];
  for (const [method, path, options] of requests)
    expect(await outcome(send(method, path, { ...options, to }))).toEqual([404, "route_not_found"]);
});
