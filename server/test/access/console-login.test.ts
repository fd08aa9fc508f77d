// Sign-in to the console at a real identity provider, with the pages that a person sees there.
import { describe, expect, it } from "vitest";
import { OWN_PAGE, PUBLIC_URL, START, setUpLoginInstallation } from "./login-installation.ts";
import { type Browser, CONSOLE_CLIENT, logInAtProvider, openBrowser, visit } from "./login-provider.ts";

const { tenant, url, query } = setUpLoginInstallation((corp) => {
  const own = { ...corp, role: "developer" };
  const tokensOnly = { ...own, id: "tokens", issuer: "http://127.0.0.1:9", console: undefined };
  const offline = { ...own, id: "offline", issuer: "http://127.0.0.1:9/" };
  return [own, tokensOnly, offline];
});
const callConsole = (browser: Browser, method: string, path: string, body?: object) =>
  visit(browser, `${url()}${path}`, {
    method,
    headers: { ...OWN_PAGE, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
const start = async (browser: Browser, parameters = "") => {
  const response = await visit(browser, `${url()}${START}${parameters}`);
  expect(response.status).toBe(302);
  return response.headers.get("location")!;
};
/** The browser comes back to the public URL; the test sends it to the port of its API. */
const comeBack = async (browser: Browser, location: string) => {
  const session = [...browser.cookies].filter(([name]) => name.endsWith(" __Host-gesso"));
  // A SameSite=Strict cookie is not sent: another site sends the browser back.
  for (const [name] of session) browser.cookies.delete(name);
  const response = await visit(browser, location.replace(PUBLIC_URL, url()));
  for (const [name, value] of session) if (!browser.cookies.has(name)) browser.cookies.set(name, value);
  return response;
};
const logIn = async (browser: Browser, login: string, parameters = "") =>
  comeBack(browser, await logInAtProvider(browser, await start(browser, parameters), login));
const errorOf = (response: Response) => {
  expect(response.status).toBe(302);
  expect(response.headers.getSetCookie().some((cookie) => cookie.startsWith("__Host-gesso="))).toBe(false);
  const { pathname, searchParams } = new URL(response.headers.get("location")!, PUBLIC_URL);
  expect([pathname, searchParams.get("request_id")]).toEqual(["/console/", expect.stringMatching(/^req_/)]);
  return searchParams.get("sign_in_error");
};
const sessionsOf = async (user: string) =>
  (await query<{ n: number }>("select count(*)::int as n from console_sessions where user_id = $1", [user]))[0]!.n;

describe("signing in at an identity provider", () => {
  it("begins a session with the role of the member, and signing out ends it", async () => {
    const browser = openBrowser();
    const back = await logIn(browser, "alice", `?return_to=${encodeURIComponent("/console/runs?q=sea")}`);
    expect([back.status, back.headers.get("location")]).toEqual([302, "/console/runs?q=sea"]);
    const cookie = back.headers.getSetCookie().find((each) => each.startsWith("__Host-gesso="));
    expect(cookie).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=604800$/);
    const me = (await (await callConsole(browser, "GET", "/console/api/v1/me")).json()) as { credential: object };
    expect(me).toMatchObject({ user_id: "corp:alice", role: "developer", tenant: { id: tenant } });
    expect(me.credential).toMatchObject({ kind: "session", key_id: null, scopes: ["*"] });
    const copy: Browser = { cookies: new Map(browser.cookies) };
    expect((await callConsole(browser, "DELETE", "/console/session")).status).toBe(204);
    const refused = await callConsole(copy, "GET", "/console/session");
    expect([refused.status, await refused.json()]).toMatchObject([401, { code: "session_required" }]);
  });

  it("sends state, nonce and a PKCE challenge that no two logins share, and no token to the browser", async () => {
    const [one, other] = [new URL(await start(openBrowser())), new URL(await start(openBrowser()))];
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(one.searchParams.get(name)).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(one.searchParams.get(name)).not.toBe(other.searchParams.get(name));
    }
    expect(Object.fromEntries(one.searchParams)).toMatchObject({
      ...{ response_type: "code", code_challenge_method: "S256", scope: "openid", client_id: "console" },
      redirect_uri: `${PUBLIC_URL}${START}/callback`,
    });
    const browser = openBrowser();
    await logIn(browser, "bob");
    expect([...browser.cookies.values()].filter((value) => value.startsWith("eyJ"))).toEqual([]);
  });

  it("is finished only by the browser that started it, once, with its own state", async () => {
    const browser = openBrowser();
    const back = await logInAtProvider(browser, await start(browser), "mallory");
    expect(errorOf(await comeBack(openBrowser(), back))).toBe("sign_in_failed");
    const altered = { cookies: new Map(browser.cookies) };
    expect(errorOf(await comeBack(altered, back.replace(/state=[^&]*/, "state=x")))).toBe("sign_in_failed");
    const victim = openBrowser();
    await start(victim);
    expect(errorOf(await comeBack(victim, back))).toBe("sign_in_failed");
    expect(await sessionsOf("corp:mallory")).toBe(0);
    const copy: Browser = { cookies: new Map(browser.cookies) };
    expect((await comeBack(browser, back)).headers.get("location")).toBe("/console/");
    expect(errorOf(await comeBack(copy, back))).toBe("sign_in_failed");
    expect(await sessionsOf("corp:mallory")).toBe(1);
  });

  it("returns to pages of the console only", async () => {
    for (const path of [
      "https://evil.example.com/",
      "//evil.example.com",
      "/console\\..\\x",
      "/api/v1/runs",
      "/consoles",
      "/console/../api/v1/runs",
      "/console//evil.example.com",
      "/console/./x",
    ])
      expect(
        (await logIn(openBrowser(), "carol", `?return_to=${encodeURIComponent(path)}`)).headers.get("location"),
      ).toBe("/console/");
  });

  it("is refused to a removed member, whose session ends within 5 s", async () => {
    const browser = openBrowser();
    await logIn(browser, "dave");
    expect((await callConsole(browser, "GET", "/console/session")).status).toBe(200);
    await query("update members set removed_at = now() where user_id = 'corp:dave'");
    await expect
      .poll(async () => (await callConsole(browser, "GET", "/console/session")).status, {
        timeout: 5000,
        interval: 250,
      })
      .toBe(401);
    expect(errorOf(await logIn(openBrowser(), "dave"))).toBe("permission_denied");
  });

  it("asks for the password again where a recent login is needed", async () => {
    const browser = openBrowser();
    await logIn(browser, "erin");
    await query("update console_sessions set last_login_at = null where user_id = 'corp:erin'");
    const create = async () => {
      const draft = { name: "web", scopes: ["runs:read"] };
      const response = await callConsole(browser, "POST", "/console/api/v1/keys", draft);
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await create()).toEqual([403, "login_too_old"]);
    const url = new URL(await start(browser, "?again=true"));
    expect([url.searchParams.get("prompt"), url.searchParams.get("max_age")]).toEqual(["login", "600"]);
    await comeBack(browser, await logInAtProvider(browser, url.href, "erin"));
    expect(await create()).toEqual([201, undefined]);
    // The session before it has ended, although the browser does not send its cookie with the way back.
    expect(await sessionsOf("corp:erin")).toBe(1);
  });

  it("fails with an error of the catalogue if the provider is unknown, has no client or cannot be reached", async () => {
    const failed = async (id: string) => errorOf(await visit(openBrowser(), `${url()}/console/session/oidc/${id}`));
    expect(await failed("unknown")).toBe("route_not_found");
    expect(await failed("tokens")).toBe("route_not_found");
    expect(await failed("offline")).toBe("dependency_unavailable");
    const config = await (await visit(openBrowser(), `${url()}/console/config.json`)).text();
    expect(JSON.parse(config).sign_in_methods.oidc.map(({ id }: { id: string }) => id)).toEqual(["corp", "offline"]);
    expect(config).not.toContain(CONSOLE_CLIENT.client_secret);
  });
});
