// What a person and an operator see of a sign-in at a real provider: roles by groups, refusals, and how access ends.
import type { Browser } from "../access/login-provider.ts";
import { openBrowser, visit } from "../access/login-provider.ts";
import type { Check } from "../support/checklist.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import { logInAtPage, type RealProvider } from "./real-provider.ts";

const OWN_PAGE = { "sec-fetch-site": "same-origin", "x-gesso-console": "1" };
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The entry of `OIDC_ISSUERS`, and how people are named at the provider and in Gesso. */
export type CheckedIssuer = {
  id: string;
  issuer: string;
  tenantId: string;
  sessionHours: number;
  loginOf(name: string): string;
};

export async function checkSignIn(
  check: Check,
  provider: RealProvider,
  { id, issuer, tenantId, sessionHours, loginOf }: CheckedIssuer,
  { url, query }: TestEnvironment,
): Promise<void> {
  const title = (text: string) => `${id}: ${text}`;
  const start = async (browser: Browser) =>
    (await visit(browser, `${url}/console/session/oidc/${id}`)).headers.get("location") ?? "";
  /** A new browser that has signed in; or why not: `refused` by the provider, or the error of Gesso. */
  const signIn = async (name: string, password = provider.password): Promise<Browser | string> => {
    const browser = openBrowser();
    const back = await logInAtPage(browser, await start(browser), { login: loginOf(name), password });
    if (back === undefined) return "refused";
    const location = (await visit(browser, back)).headers.get("location") ?? "";
    return new URL(location, url).searchParams.get("sign_in_error") ?? browser;
  };
  const requireSignIn = async (name: string): Promise<Browser> => {
    const browser = await signIn(name);
    if (typeof browser === "string") throw new Error(`${name}: ${browser}`);
    return browser;
  };
  const describe = (outcome: Browser | string) => (typeof outcome === "string" ? outcome : "signed in");
  const call = (browser: Browser, path: string) => visit(browser, `${url}${path}`, { headers: OWN_PAGE });
  const roleOf = async (browser: Browser) => {
    const response = await call(browser, "/console/api/v1/me");
    const body = (await response.json()) as { role?: string; code?: string };
    return body.role ?? body.code;
  };
  /** Sessions and roles are remembered for 4 s. Returns what it was in the end. */
  const untilRole = async (browser: Browser, expected: string) => {
    for (let tries = 0; tries < 60 && (await roleOf(browser)) !== expected; tries++) await pause(250);
    return roleOf(browser);
  };
  const membersOf = (name: string) =>
    query<{ role: string }>("select role from members where tenant_id = $1 and user_id = $2", [
      tenantId,
      `${id}:${loginOf(name)}`,
    ]);

  await check(title("a person of a group signs in with PKCE, and has the role of the group"), async () => {
    const browser = openBrowser();
    const target = new URL(await start(browser));
    const role = await roleOf(await requireSignIn("ann"));
    const challenge = target.searchParams.get("code_challenge_method");
    const passed = target.href.startsWith(new URL(issuer).origin) && challenge === "S256" && role === "developer";
    return { passed, observed: `${challenge}, ${role}` };
  });

  await check(title("the provider gives no token for a code of another PKCE challenge"), async () => {
    const browser = openBrowser();
    const target = new URL(await start(browser));
    target.searchParams.set("code_challenge", "A".repeat(43));
    const person = { login: loginOf("ann"), password: provider.password };
    const back = await logInAtPage(browser, target.href, person);
    const location = back && (await visit(browser, back)).headers.get("location");
    const error = location ? new URL(location, url).searchParams.get("sign_in_error") : "refused";
    return { passed: error === "sign_in_failed", observed: String(error) };
  });

  await check(title("a wrong password and an unknown account begin no session"), async () => {
    const outcomes = [await signIn("ann", "wrong"), await signIn("unknown")].map(describe);
    return { passed: outcomes.every((each) => each === "refused"), observed: outcomes.join(", ") };
  });

  await check(title("a person without the required group is refused and becomes no member"), async () => {
    const outcome = describe(await signIn("eve"));
    const members = await membersOf("eve");
    const observed = `${outcome}, ${members.length} members`;
    return { passed: outcome === "permission_denied" && members.length === 0, observed };
  });

  const { findAccessToken } = provider;
  if (findAccessToken) {
    await check(title("an access token for Gesso is accepted, one for another audience is not"), async () => {
      const askWith = async (client: string) => {
        const headers = { authorization: `Bearer ${await findAccessToken("ann", client)}` };
        const response = await fetch(`${url}/api/v1/me`, { headers });
        const { role, code } = (await response.json()) as { role?: string; code?: string };
        return role ?? code;
      };
      const [own, other] = [await askWith("gesso-api"), await askWith("admin-cli")];
      return { passed: own === "developer" && other === "invalid_token", observed: `${own}, ${other}` };
    });
  }

  const { logOut } = provider;
  if (logOut) {
    await check(title("signing out at the provider ends the session there and no other"), async () => {
      const [browser, other] = [await requireSignIn("ann"), await requireSignIn("bob")];
      const before = await roleOf(browser);
      await logOut(browser);
      const [after, others] = [await untilRole(browser, "session_required"), await roleOf(other)];
      const passed = before === "developer" && after === "session_required" && others === "developer";
      return { passed, observed: `${before}, then ${after}; ${others}` };
    });
  }

  await check(
    title("a person who changes groups changes role with the next sign-in, and loses it with them"),
    async () => {
      const first = await requireSignIn("bob");
      await provider.setGroups("bob", ["staff", "artists", "admins"]);
      const promoted = await roleOf(await requireSignIn("bob"));
      await provider.setGroups("bob", ["staff"]);
      const outcome = describe(await signIn("bob"));
      const session = await untilRole(first, "session_required");
      const observed = `${promoted}, then ${outcome}; the first session: ${session}`;
      return { passed: `${promoted} ${outcome} ${session}` === "owner permission_denied session_required", observed };
    },
  );

  await check(title("a disabled account cannot sign in, and its session ends"), async () => {
    const browser = await requireSignIn("kim");
    await provider.disable("kim");
    const outcome = describe(await signIn("kim"));
    const before = await roleOf(browser);
    if (provider.endSessions) await provider.endSessions("kim");
    else {
      const user = `${id}:${loginOf("kim")}`;
      const age = "update console_sessions set created_at = now() - make_interval(hours => $2) where user_id = $1";
      await query(age, [user, sessionHours]);
    }
    const after = await untilRole(browser, "session_required");
    const how = provider.endSessions ? "a logout by the administrator" : `${sessionHours} hours`;
    const passed = `${outcome} ${before} ${after}` === "refused developer session_required";
    return { passed, observed: `${outcome}; ${before}, after ${how} ${after}` };
  });
}
