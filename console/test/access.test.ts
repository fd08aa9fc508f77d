// Signing in to the console, its cookie, requests of other origins, and new keys, in a browser.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page, Request, Response } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONSOLE_CLIENT, type LoginProvider, startLoginProvider } from "../../server/test/access/login-provider.ts";
import { createTestTenant } from "../../server/test/support/tenants.ts";
import { type ConsoleBrowser, createSignInPath, startOwnConsoleBrowser } from "./support/console-browser.ts";
import { listConsolePaths } from "./support/console-routes.ts";
import { createPageOpener } from "./support/settled-page.ts";

const FIRST_TENANT = "00000000-0000-7000-8000-000000000001";
const NO_ID = "00000000-0000-7000-8000-0000000000ff";
let [browser, provider, attacker] = [] as unknown as [ConsoleBrowser, LoginProvider, Server];

beforeAll(async () => {
  provider = await startLoginProvider(() => [`${browser.url}/console/session/oidc/corp/callback`]);
  const issuer = {
    ...{ id: "corp", issuer: provider.issuer, audience: "gesso", tenant_id: FIRST_TENANT, role: "developer" },
    console: CONSOLE_CLIENT,
  };
  browser = await startOwnConsoleBrowser({
    env: { OIDC_ISSUERS: JSON.stringify([issuer]), TRUSTED_PROXIES: "127.0.0.1" },
  });
  attacker = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>Another site</title>");
  });
  await new Promise<void>((resolve) => attacker.listen(0, resolve));
});
afterAll(async () => {
  attacker?.close();
  provider?.close();
  await browser?.stop();
});

const signInHeading = (page: Page) => page.getByRole("heading", { name: "Sign in", exact: true });
const enterKey = async (page: Page, key: string) => {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in with key" }).click();
};
/** What a request of the console's own script gets: status and body. */
const call = (page: Page, path: string, isOwn = true) =>
  page.evaluate(
    async ([url, own]) => {
      const response = await fetch(url, { headers: own ? { "x-gesso-console": "1" } : {} });
      return { status: response.status, body: await response.json().catch(() => ({})) };
    },
    [path, isOwn] as const,
  );
const isSignIn = (response: Response) =>
  response.url().endsWith("/console/session") && response.request().method() === "POST";
/** Sends a request of the page several times at once. Returns the statuses in order. */
const sendAgain = async (page: Page, request: Request, times: number) =>
  page.evaluate(
    async ([body, count]) => {
      const headers = { "content-type": "application/json", "x-gesso-console": "1" };
      const send = async () => (await fetch("/console/session", { method: "POST", headers, body })).status;
      return (await Promise.all(Array.from({ length: count }, send))).sort();
    },
    [request.postData() ?? "", times] as const,
  );
/** Everything that a page keeps: its markup, form values, storage, history and script-readable cookies. */
const readPage = (page: Page) =>
  page.evaluate(async () => {
    const inputs = [...document.querySelectorAll("input, textarea")].map((each) => (each as HTMLInputElement).value);
    const databases = await indexedDB.databases();
    const stored = [{ ...localStorage }, { ...sessionStorage }, history.state, databases, document.cookie];
    return JSON.stringify([document.documentElement.outerHTML, inputs, location.href, stored]);
  });

describe("[CON-1] the link of gesso dev", () => {
  it("signs in once, and the key is in no page, storage, URL or response", async () => {
    const context = await browser.newContext();
    const path = await createSignInPath(browser.url, browser.key);
    const bodies: Promise<string>[] = [];
    const urls: string[] = [];
    context.on("response", (response) => {
      urls.push(response.url());
      if (!response.headers()["content-type"]?.includes("event-stream")) bodies.push(response.text().catch(() => ""));
    });
    const tab = await browser.openTab(context, path);
    await tab.page.getByRole("navigation").first().waitFor();
    expect(tab.page.url()).not.toContain("#in=");
    const kept: string[] = [];
    const open = createPageOpener(tab.page);
    for (const each of listConsolePaths({ runId: NO_ID, deliveryId: NO_ID })) {
      await open(`${browser.url}/console${each}`);
      kept.push(await readPage(tab.page));
    }
    const code = path.split("=")[1]!;
    const seen = [...kept, ...urls, ...(await Promise.all(bodies))].join("\n");
    expect(seen.length).toBeGreaterThan(10_000);
    expect([seen.includes(browser.key), seen.includes(code)]).toEqual([false, false]);
    await context.close();

    const second = await browser.newContext();
    const again = await browser.openTab(second, path);
    await again.page.getByText("This link has been used or has expired.").waitFor();
    expect(await second.cookies()).toEqual([]);
    await second.close();
  });
});

describe("[CON-2] an API key", () => {
  it("signs in; a wrong one is refused in words with a request ID; the sixth wrong one in a minute waits", async () => {
    const { key } = await createTestTenant(browser.environment);
    // Attempts count by address. Other tests come from another one.
    const context = await browser.newContext({ extraHTTPHeaders: { "x-forwarded-for": "203.0.113.5" } });
    const { page } = await browser.openTab(context, "/gallery");
    const refused = page.waitForResponse(isSignIn);
    await enterKey(page, `gsk_${"x".repeat(46)}`);
    expect((await refused).status()).toBe(401);
    await page.getByText("This key is not valid. Check that you copied all of it.").waitFor();
    await page.getByText(/Request ID req_[0-9a-f]{32}/).waitFor();
    // Five at once: a busy machine could need more than the minute to enter them one by one.
    const statuses = await sendAgain(page, (await refused).request(), 5);
    expect(statuses.slice(0, 4)).toEqual([401, 401, 401, 401]);
    expect([401, 429]).toContain(statuses[4]);
    const sixth = page.waitForResponse(isSignIn);
    await enterKey(page, `gsk_${"y".repeat(46)}`);
    expect((await sixth).status()).toBe(429);
    await page.getByText(/Too many attempts. Try again in \d+ s/).waitFor();
    // A right key works at once: others at the same address, such as that of a proxy, may have tried the wrong ones.
    await enterKey(page, key);
    await page.getByRole("heading", { name: "Gallery" }).waitFor();
    expect(await readPage(page)).not.toContain(key);
    await context.close();
  });
});

describe("[CON-3] an identity provider", () => {
  it("signs in with the role of the member, and out, and the old cookie is refused", async () => {
    await browser.client.members.add({ user_id: "corp:alice", role: "viewer", name: "Alice" });
    const context = await browser.newContext();
    const { page } = await browser.openTab(context, "/people");
    await page.getByRole("link", { name: "Continue with corp" }).click();
    await page.getByPlaceholder("Enter any login").fill("alice");
    await page.getByPlaceholder("and password").fill("any");
    await page.getByRole("button").click();
    await page.getByRole("heading", { name: "People" }).waitFor();
    const identity = (await call(page, "/console/api/v1/me")).body;
    expect(identity).toMatchObject({ user_id: "corp:alice", role: "viewer", tenant: { id: FIRST_TENANT } });
    const [cookie] = (await context.cookies(browser.url)).filter(({ name }) => name === "__Host-gesso");
    await page.getByRole("button", { name: "Sign out" }).click();
    await signInHeading(page).waitFor();
    await context.addCookies([cookie!]);
    await expect.poll(async () => (await call(page, "/console/session")).status).toBe(401);
    await context.close();
  });
});

describe("[CON-4] the session cookie", () => {
  it.each(["127.0.0.1", "localhost"])("is protected at http://%s, and no credential for /api/v1", async (host) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const origin = browser.url.replace("127.0.0.1", host);
    await page.goto(`${origin}/console${await createSignInPath(browser.url, browser.key)}`);
    await page.getByRole("navigation").first().waitFor();
    expect(await context.cookies()).toEqual([
      expect.objectContaining({
        ...{ name: "__Host-gesso", domain: host, path: "/", httpOnly: true, secure: true, sameSite: "Strict" },
        value: expect.stringMatching(/^[\w-]{43}$/),
      }),
    ]);
    expect((await call(page, "/console/api/v1/runs")).status).toBe(200);
    expect(await page.evaluate(() => document.cookie)).toBe("");
    const refused = await call(page, "/api/v1/runs");
    expect([refused.status, refused.body.code]).toEqual([401, "authentication_required"]);
    await context.close();
  });
});

describe("[CON-5] another origin", () => {
  const TARGET = "/console/api/v1/runs/generate";
  const sendForm = (page: Page, target: string, type: string) =>
    page.evaluate(
      ([url, enctype]) => {
        const form = Object.assign(document.createElement("form"), { method: "post", action: url, enctype });
        const field = Object.assign(document.createElement("input"), { name: '{"prompt":"forged","x":"', value: '"}' });
        form.append(field);
        document.body.append(form);
        form.submit();
      },
      [target, type] as const,
    );
  type ForgedInit = { mode?: "no-cors"; headers?: Record<string, string>; body: string };
  const sendFetch = (page: Page, target: string, init: ForgedInit) =>
    page.evaluate(([url, own]) => fetch(url, { method: "POST", credentials: "include", ...own }).then(String, String), [
      target,
      init,
    ] as const);

  // Pages of 127.0.0.1 are of the same site, so the browser sends the cookie; pages of localhost are not.
  it.each(["127.0.0.1", "localhost"])("at %s starts no run, by form or script", async (host) => {
    const tab = await browser.signIn();
    const page = await tab.context.newPage();
    const site = `http://${host}:${(attacker.address() as AddressInfo).port}`;
    const target = `${browser.url}${TARGET}`;
    const statuses: number[] = [];
    page.on("response", (response) => {
      if (response.url() === target) statuses.push(response.status());
    });
    const body = JSON.stringify({ prompt: "forged" });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      await page.goto(site);
      const answered = page.waitForResponse(target);
      await sendForm(page, target, type);
      const response = await answered;
      expect([response.status(), await response.text()]).toEqual([403, expect.stringContaining("cross_site_request")]);
      await response.finished();
      await page.waitForURL(target);
    }
    await page.goto(site);
    await sendFetch(page, target, { mode: "no-cors", body });
    const withHeader = await sendFetch(page, target, {
      headers: { "content-type": "application/json", "x-gesso-console": "1" },
      body,
    });
    expect(withHeader).toContain("Failed to fetch");
    expect(statuses.filter((status) => status !== 403)).toEqual([]);
    expect(statuses.length).toBeGreaterThanOrEqual(3);
    const runs = await browser.client.runs.list({ q: "forged" });
    expect(runs.data).toEqual([]);
    await tab.context.close();
  });
});

describe("[CON-9] a new key", () => {
  const SECRET = /gsk_\w{46}/;
  const createKey = async (page: Page, name: string) => {
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByRole("radio", { name: "Only reading" }).click();
    await dialog.getByRole("button", { name: "Create key" }).click();
  };
  const shownKey = async (page: Page) => {
    await page.getByRole("dialog", { name: "Copy your new key" }).waitFor();
    return SECRET.exec(await page.getByRole("dialog").innerText())![0];
  };
  const signInWithKey = async (key: string) => {
    const context = await browser.newContext();
    const tab = await browser.openTab(context, "/keys");
    await enterKey(tab.page, key);
    await tab.page.getByRole("heading", { name: "API keys" }).waitFor();
    return tab;
  };

  it("is shown once, and neither after closing, going back nor reloading", async () => {
    const { key } = await createTestTenant(browser.environment);
    const { page, context } = await signInWithKey(key);
    await createKey(page, "website");
    const secret = await shownKey(page);
    const usable = await fetch(`${browser.url}/api/v1/runs`, { headers: { authorization: `Bearer ${secret}` } });
    expect(usable.status).toBe(200);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("website", { exact: true }).waitFor();
    expect(await readPage(page)).not.toContain(secret);
    await page.getByRole("link", { name: "People" }).click();
    await page.getByRole("heading", { name: "People" }).waitFor();
    await page.goBack();
    await page.getByText("website", { exact: true }).waitFor();
    expect(await readPage(page)).not.toContain(secret);
    await page.reload();
    await page.getByText("website", { exact: true }).waitFor();
    expect(await readPage(page)).not.toContain(secret);
    await context.close();
  });

  it("needs a login of the last 10 minutes: the page asks for one and repeats the request", async () => {
    const { key, tenant_id } = await createTestTenant(browser.environment);
    const other = await createTestTenant(browser.environment);
    const { page, context } = await signInWithKey(key);
    await browser.environment.query(
      "update console_sessions set last_login_at = now() - interval '11 minutes' where tenant_id = $1",
      [tenant_id],
    );
    const until = async () => Date.parse((await call(page, "/console/session")).body.recent_login_until);
    await expect.poll(until).toBeLessThan(Date.now());
    await createKey(page, "website");
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.waitFor();
    // A key of another account must not create the key there.
    await dialog.getByLabel("API key").fill(other.key);
    await dialog.getByRole("button", { name: "Sign in with key" }).click();
    await dialog.getByText("The login belongs to another account.").waitFor();
    await dialog.getByLabel("API key").fill(key);
    await dialog.getByRole("button", { name: "Sign in with key" }).click();
    const secret = await shownKey(page);
    const created = await fetch(`${browser.url}/api/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect(await created.json()).toMatchObject({ tenant: { id: tenant_id }, credential: { scopes: ["*:read"] } });
    await context.close();
  });

  it("revoking a key names the keys that it takes along, and their number", async () => {
    const { key } = await createTestTenant(browser.environment);
    const headersOf = (credential: string) => ({ authorization: `Bearer ${credential}` });
    const create = async (creator: string, name: string) => {
      const headers = { ...headersOf(creator), "content-type": "application/json" };
      const body = JSON.stringify({ name, scopes: ["*"] });
      const response = await fetch(`${browser.url}/api/v1/keys`, { method: "POST", headers, body });
      return ((await response.json()) as { key: string }).key;
    };
    const parent = await create(key, "pipeline");
    const child = await create(parent, "nightly");
    const grandchild = await create(child, "retries");
    await create(key, "neighbour");
    const { page, context } = await signInWithKey(key);
    await page.getByRole("button", { name: "Actions for pipeline" }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    const dialog = page.getByRole("dialog", { name: "Revoke pipeline?" });
    await dialog.getByText("2 keys were created with it, or with one of them, and are revoked too:").waitFor();
    const names = await dialog.getByRole("listitem").locator("b").allTextContents();
    expect(names).toEqual(["retries", "nightly"]);
    await dialog.getByRole("button", { name: "Revoke 3 keys" }).click();
    await dialog.waitFor({ state: "detached" });
    const statusOf = async (credential: string) =>
      (await fetch(`${browser.url}/api/v1/me`, { headers: headersOf(credential) })).status;
    await expect.poll(() => statusOf(grandchild)).toBe(401);
    expect(await statusOf(key)).toBe(200);
    await context.close();
  });

  it("revoking the key of a session ends the session", async () => {
    const { key, key_id, tenant_id } = await createTestTenant(browser.environment);
    const second = await createTestTenant(browser.environment, { tenantId: tenant_id });
    const [one, other] = [await signInWithKey(key), await signInWithKey(second.key)];
    await one.page.getByRole("row", { name: "Key of this session" }).getByRole("button").click();
    await one.page.getByRole("menuitem", { name: "Revoke" }).click();
    await one.page.getByRole("button", { name: "Revoke key" }).click();
    await signInHeading(one.page).waitFor();
    expect((await call(one.page, "/console/session")).status).toBe(401);
    expect((await call(other.page, "/console/session")).status).toBe(200);
    expect(key_id).not.toBe(second.key_id);

    await browser.environment.query("update api_keys set revoked_at = now() where key_id = $1", [second.key_id]);
    const status = async () => (await call(other.page, "/console/session")).status;
    await expect.poll(status).toBe(401);
    await signInHeading(other.page).waitFor();
    await one.context.close();
    await other.context.close();
  });
});
