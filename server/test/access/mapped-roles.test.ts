// Claims of a real identity provider that give roles: every sign-in decides anew about the role, the keys and the
// sessions of a person.
import { expect, it } from "vitest";
import { OWN_PAGE, PUBLIC_URL, START, setUpLoginInstallation } from "./login-installation.ts";
import { type Browser, logInAtProvider, openBrowser, visit } from "./login-provider.ts";

const { provider, url, query } = setUpLoginInstallation((corp) => [
  {
    ...corp,
    required_claims: { groups: ["staff"] },
    roles: [
      { claim: "groups", values: ["artists"], role: "developer" },
      { claim: "groups", values: ["admins"], role: "owner" },
    ],
  },
]);
/** Signs in with these groups, and returns the browser, or the error on the page where it ends. */
async function signIn(login: string, groups: string[]): Promise<Browser | string> {
  provider().setClaims(login, { groups });
  const browser = openBrowser();
  const start = await visit(browser, `${url()}${START}`);
  const back = await logInAtProvider(browser, start.headers.get("location")!, login);
  const location = (await visit(browser, back.replace(PUBLIC_URL, url()))).headers.get("location")!;
  return new URL(location, PUBLIC_URL).searchParams.get("sign_in_error") ?? browser;
}
async function requireSignIn(login: string, groups: string[]): Promise<Browser> {
  const browser = await signIn(login, groups);
  if (typeof browser === "string") throw new Error(`${login} is refused: ${browser}`);
  return browser;
}
async function call(browser: Browser, method: string, path: string, body?: object) {
  const init = { method, headers: { ...OWN_PAGE, "content-type": "application/json" } };
  const response = await visit(browser, `${url()}/console/api/v1${path}`, {
    ...init,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
/** Roles are remembered for 4 s. */
const poll = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 300_000, interval: 250 });
const roleOf = async (browser: Browser) => {
  const { status, body } = await call(browser, "GET", "/me");
  return status === 200 ? body.role : status;
};

it("a person without a required group, or without a group that gives a role, becomes no member", async () => {
  expect(await signIn("ann", [])).toBe("permission_denied");
  expect(await signIn("ann", ["artists", "admins"])).toBe("permission_denied");
  expect(await signIn("ann", ["staff", "artists-alumni"])).toBe("permission_denied");
  expect(await query("select user_id from members")).toEqual([]);
  expect(await roleOf(await requireSignIn("ann", ["staff", "artists"]))).toBe("developer");
});

it("each sign-in decides anew, also for sessions and keys that the person already has", async () => {
  const first = await requireSignIn("bea", ["staff", "artists", "admins"]);
  expect(await roleOf(first)).toBe("owner");
  const created = await call(first, "POST", "/keys", { name: "tool", scopes: ["members:read", "runs:read"] });
  const key = created.body.key as string;
  const statusOfKey = async (path: string) =>
    (await fetch(`${url()}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })).status;
  const statusesOfKey = async () => [await statusOfKey("/me"), await statusOfKey("/audit")];
  const before = await statusesOfKey();
  expect(before[0]).toBe(200);
  await requireSignIn("cal", ["staff", "admins"]);

  await requireSignIn("bea", ["staff", "artists"]);
  await poll(() => roleOf(first)).toBe("developer");

  expect(await signIn("bea", ["staff"])).toBe("permission_denied");
  await poll(() => roleOf(first)).toBe(401);
  await poll(async () => statusOfKey("/me")).toBe(401);

  const again = await requireSignIn("bea", ["staff", "artists"]);
  expect(await roleOf(again)).toBe("developer");
});

it("an owner's change lasts until the next sign-in, and a removed member stays removed", async () => {
  const owner = await requireSignIn("dea", ["staff", "admins"]);
  const other = await requireSignIn("eli", ["staff", "artists"]);
  const changed = await call(owner, "PATCH", "/members/corp:eli", { role: "viewer" });
  expect([changed.status, changed.body]).toMatchObject([200, { role: "viewer", role_source: "identity_provider" }]);
  expect(await roleOf(other)).toBe("viewer");
  expect(await roleOf(await requireSignIn("eli", ["staff", "artists"]))).toBe("developer");
  expect((await call(owner, "DELETE", "/members/corp:eli")).status).toBe(200);
  expect(await signIn("eli", ["staff", "artists"])).toBe("permission_denied");

  const added = await call(owner, "POST", "/members", { user_id: "corp:fay", role: "viewer" });
  expect([added.status, added.body]).toMatchObject([201, { role_source: "gesso" }]);
  // No rule names this person, so the owner decides.
  expect(await roleOf(await requireSignIn("fay", ["staff"]))).toBe("viewer");
});

it("the last owner of a tenant is refused instead of losing the role", async () => {
  const owner = await requireSignIn("gus", ["staff", "admins"]);
  await query("update members set role = 'developer' where role = 'owner' and user_id <> 'corp:gus'");
  expect(await signIn("gus", ["staff", "artists"])).toBe("permission_denied");
  expect(await signIn("gus", ["staff"])).toBe("permission_denied");
  expect(await roleOf(owner)).toBe("owner");
});
