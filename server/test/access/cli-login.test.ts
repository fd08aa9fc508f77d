// `gesso login` at a real identity provider: the command is a process of its own, and the test is the browser.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestApi, type TestApi } from "./isolation.ts";
import {
  CLI_AUDIENCE,
  CLI_CLIENT,
  type LoginProvider,
  logInAtProvider,
  openBrowser,
  startLoginProvider,
} from "./login-provider.ts";

const BIN = fileURLToPath(new URL("../../../cli/bin/gesso.js", import.meta.url));
const tenant = v7();
const folder = mkdtempSync(join(tmpdir(), "gesso-cli-login-"));
const credentials = join(folder, "config", "gesso", "credentials.json");
let [database, provider, api] = [] as unknown as [TestDatabase, LoginProvider, TestApi];

beforeAll(async () => {
  database = await startTestDatabase();
  await database.owner.query(v7(), "insert into tenants (tenant_id, name) values ($1, 'Corp')", [tenant]);
  provider = await startLoginProvider(() => ["http://127.0.0.1:7788/unused"]);
  const cli = { ...CLI_CLIENT, parameters: { resource: CLI_AUDIENCE } };
  const own = { id: "corp", issuer: provider.issuer, audience: CLI_AUDIENCE, tenant_id: tenant, role: "developer" };
  const withoutClient = { ...own, id: "other", issuer: "http://127.0.0.1:9" };
  api = await startTestApi(database, {
    STORAGE_DIR: folder,
    OIDC_ISSUERS: JSON.stringify([{ ...own, cli, max_key_days: 30 }, withoutClient]),
  });
});
afterAll(async () => {
  await api?.close();
  provider?.close();
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function startCommand(...parameters: string[]) {
  const child = spawn(process.execPath, [BIN, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: folder },
      ...{ XDG_CONFIG_HOME: join(folder, "config"), BROWSER: "/bin/true", GESSO_URL: api.url },
    },
  });
  const ended = Promise.all([text(child.stdout), once(child, "exit")]);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  return {
    async end() {
      const [stdout, [code]] = await ended;
      return { code, stdout, stderr };
    },
    /** The URL that the command asks the person to visit. */
    async signInUrl() {
      for (;;) {
        const url = /^ {2}(http\S+)$/m.exec(stderr)?.[1];
        if (url) return url;
        await once(child.stderr, "data");
      }
    },
  };
}
const run = (...parameters: string[]) => startCommand(...parameters).end();

it("describes only identity providers with a client for the command line, without a credential", async () => {
  const response = await fetch(`${api.url}/cli/config.json`);
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
  const oidc = [{ id: "corp", issuer: provider.issuer, ...CLI_CLIENT, parameters: { resource: CLI_AUDIENCE } }];
  expect(await response.json()).toMatchObject({ sign_in_methods: { key: true, oidc } });
});

it("signs in with the browser, saves a key that expires, and revokes it at logout", async () => {
  const login = startCommand("login", "--issuer", "corp");
  const url = await login.signInUrl();
  const parameters = new URL(url).searchParams;
  expect(Object.fromEntries(parameters)).toMatchObject({
    ...{ client_id: "cli", response_type: "code", code_challenge_method: "S256", resource: CLI_AUDIENCE },
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
  });
  const back = await logInAtProvider(openBrowser(), url, "alice");
  // A response that does not belong to this sign-in changes nothing.
  const forged = await fetch(back.replace(/state=[^&]*/, "state=x"));
  expect(forged.status).toBe(404);
  const page = await fetch(back);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("You are signed in.")]);
  expect(await login.end()).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("corp:alice") });

  expect(statSync(credentials).mode & 0o777).toBe(0o600);
  const { key, key_id } = JSON.parse(readFileSync(credentials, "utf8")).profiles.default;
  expect(key).toMatch(/^gsk_/);
  const identity = JSON.parse((await run("whoami", "--json")).stdout);
  expect(identity).toMatchObject({ user_id: "corp:alice", source: "profile default", credential: { key_id } });
  const days = (Date.parse(identity.credential.expires_at) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);

  expect(await run("logout")).toMatchObject({ code: 0, stderr: expect.stringContaining("is revoked") });
  expect(existsSync(credentials)).toBe(false);
  const refused = await fetch(`${api.url}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } });
  expect(refused.status).toBe(401);
});

it("reports a refusal of the identity provider, and saves nothing", async () => {
  const login = startCommand("login", "--issuer", "corp");
  const { searchParams } = new URL(await login.signInUrl());
  const refusal = {
    state: searchParams.get("state")!,
    error: "access_denied",
    error_description: "Not\u001b[2J allowed",
  };
  await fetch(`${searchParams.get("redirect_uri")}?${new URLSearchParams(refusal)}`);
  const { code, stderr } = await login.end();
  expect(code).toBe(3);
  expect(stderr).toContain("Not\\u001b[2J allowed");
  expect(existsSync(credentials)).toBe(false);
});

it("refuses an identity provider that has no client for the command line", async () => {
  expect(await run("login", "--issuer", "other")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has no identity provider other for the command line. It has: corp."),
  });
});
