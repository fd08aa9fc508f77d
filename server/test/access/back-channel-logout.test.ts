// OpenID Connect Back-Channel Logout: a real identity provider ends the sessions of a person who signs out there, and
// nothing else that looks like its token does.
import { type JWTPayload, SignJWT } from "jose";
import { v7 } from "uuid";
import { describe, expect, it } from "vitest";
import { newSigner } from "../corpora/tokens.ts";
import { OWN_PAGE, PUBLIC_URL, START, setUpLoginInstallation } from "./login-installation.ts";
import {
  type Browser,
  CONSOLE_CLIENT,
  logInAtProvider,
  logOutAtProvider,
  openBrowser,
  visit,
} from "./login-provider.ts";

const EVENTS = { "http://schemas.openid.net/event/backchannel-logout": {} };
const SESSION_HOURS = 8;
const { provider, url, query } = setUpLoginInstallation((corp) => [
  { ...corp, role: "developer", console: { ...CONSOLE_CLIENT, session_hours: SESSION_HOURS } },
]);
async function logIn(login: string): Promise<Browser> {
  const browser = openBrowser();
  const start = await visit(browser, `${url()}${START}`);
  const back = await logInAtProvider(browser, start.headers.get("location")!, login);
  await visit(browser, back.replace(PUBLIC_URL, url()));
  expect(await statusOf(browser)).toBe(200);
  return browser;
}
const statusOf = async (browser: Browser) =>
  (await visit(browser, `${url()}/console/session`, { headers: OWN_PAGE })).status;
const sessionsOf = (login: string) =>
  query<{ provider_subject: string; provider_session: string }>(
    "select provider_subject, provider_session from console_sessions where user_id = $1 order by session_id",
    [`corp:${login}`],
  );
const postLogout = (body: string, type = "application/x-www-form-urlencoded") =>
  fetch(`${url()}${START}/logout`, { method: "POST", body, headers: { "content-type": type } });
const send = (token: string) => postLogout(new URLSearchParams({ logout_token: token }).toString());
const seconds = () => Math.floor(Date.now() / 1000);
const claims = (own: JWTPayload): JWTPayload => ({
  ...{ iss: provider().issuer, aud: CONSOLE_CLIENT.client_id, iat: seconds(), exp: seconds() + 120, jti: v7() },
  ...{ events: EVENTS, ...own },
});

describe("signing out at the identity provider", () => {
  it("ends the session that began there, at once, and no other person's", async () => {
    const [ann, ben] = [await logIn("ann"), await logIn("ben")];
    expect(await sessionsOf("ann")).toEqual([{ provider_subject: "ann", provider_session: expect.any(String) }]);
    await logOutAtProvider(ann, provider().issuer);
    await expect.poll(() => sessionsOf("ann")).toEqual([]);
    expect([await statusOf(ann), await statusOf(ben)]).toEqual([401, 200]);
    const entries = "select details from audit_log where user_id = 'corp:ann' and action = 'sessions.end'";
    expect(await query(entries)).toEqual([{ details: { issuer: "corp" } }]);
  });

  it("ends one session by its id, and all of a person by the subject", async () => {
    const [first, second, third] = [await logIn("cid"), await logIn("cid"), await logIn("cid")];
    const [{ provider_session: sid } = { provider_session: "" }] = await sessionsOf("cid");
    const response = await send(await provider().sign(claims({ sid })));
    expect([response.status, response.headers.get("cache-control"), await response.text()]).toEqual([
      200,
      "no-store",
      "",
    ]);
    expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([401, 200, 200]);
    expect((await send(await provider().sign(claims({ sub: "cid" })))).status).toBe(200);
    expect([await statusOf(second), await statusOf(third)]).toEqual([401, 401]);
  });
});

it("an account that the identity provider disables can sign in no more, and its sessions end when the provider says so", async () => {
  const browser = await logIn("fay");
  const other = openBrowser();
  const start = await visit(other, `${url()}${START}`);
  const back = await logInAtProvider(other, start.headers.get("location")!, "fay");
  provider().disable("fay");
  // The code was issued before: the provider refuses to exchange it. Later, it shows an error instead of its form.
  const refused = await visit(other, back.replace(PUBLIC_URL, url()));
  expect(refused.headers.get("location")).toContain("sign_in_error=sign_in_failed");
  expect(await statusOf(other)).toBe(401);
  await expect(logIn("fay")).rejects.toThrow("has no form");
  expect(await statusOf(browser)).toBe(200);
  expect((await send(await provider().sign(claims({ sub: "fay" })))).status).toBe(200);
  expect(await statusOf(browser)).toBe(401);
});

it("an account that the identity provider disables without a logout keeps its session for the hours of the issuer at most", async () => {
  const [gil, hal] = [await logIn("gil"), await logIn("hal")];
  for (const login of ["gil", "hal"]) provider().disable(login);
  const begin = "update console_sessions set created_at = now() - make_interval(hours => $2, secs => $3)";
  const beginAt = (login: string, seconds: number) =>
    query(`${begin} where user_id = $1`, [`corp:${login}`, SESSION_HOURS, seconds]);
  expect([await statusOf(gil), await statusOf(hal)]).toEqual([200, 200]);
  await Promise.all([beginAt("gil", 1), beginAt("hal", -600)]);
  // The API remembers sessions for 4 s.
  const minutesLeft = async () => {
    const session = (await (await visit(hal, `${url()}/console/session`, { headers: OWN_PAGE })).json()) as object;
    return "expires_at" in session ? (Date.parse(String(session.expires_at)) - Date.now()) / 60_000 : 0;
  };
  await expect.poll(() => statusOf(gil), { timeout: 300_000, interval: 250 }).toBe(401);
  await expect.poll(minutesLeft, { timeout: 300_000, interval: 250 }).toBeLessThanOrEqual(10);
  expect(await minutesLeft()).toBeGreaterThan(0);
  await expect(logIn("gil")).rejects.toThrow("has no form");
});

describe("a logout token", () => {
  it("counts once", async () => {
    await logIn("dan");
    const token = await provider().sign(claims({ sub: "dan" }));
    const statuses = await Promise.all([send(token), send(token)].map(async (each) => (await each).status));
    expect(statuses.sort()).toEqual([200, 400]);
    const browser = await logIn("dan");
    expect((await send(token)).status).toBe(400);
    expect(await statusOf(browser)).toBe(200);
  });

  it("is refused if it is not the provider's, not for this client, too old, or another kind of token", async () => {
    const browser = await logIn("eve");
    const forger = await newSigner("RS256", "login");
    const sub = "eve";
    const refused: Record<string, string> = {
      "signed by another key": await forgedBy(forger.privateKey, claims({ sub })),
      "of another issuer": await provider().sign(claims({ sub, iss: "https://elsewhere.example" })),
      "for another client": await provider().sign(claims({ sub, aud: "another" })),
      "for the audience of access tokens": await provider().sign(claims({ sub, aud: "gesso" })),
      "older than 5 minutes": await provider().sign(claims({ sub, iat: seconds() - 400 })),
      expired: await provider().sign(claims({ sub, exp: seconds() - 90 })),
      "without an expiry": await provider().sign(claims({ sub, exp: undefined })),
      "without an id": await provider().sign(claims({ sub, jti: undefined })),
      "without the event": await provider().sign(claims({ sub, events: {} })),
      "with another event": await provider().sign(claims({ sub, events: { "urn:other": {} } })),
      "with a nonce, as ID tokens have": await provider().sign(claims({ sub, nonce: "n" })),
      "without a person and a session": await provider().sign(claims({})),
      "of another type": await provider().sign(claims({ sub }), { typ: "at+jwt" }),
      "not a token": "x",
    };
    for (const [what, token] of Object.entries(refused)) {
      const response = await send(token);
      expect([what, response.status, (await response.json()) as object]).toEqual([
        ...[what, 400, expect.objectContaining({ error: "invalid_request" })],
      ]);
    }
    expect(await statusOf(browser)).toBe(200);
  });

  it("is no access token, even where JWT is an accepted type", async () => {
    const token = await provider().sign(claims({ sub: "eve", aud: "gesso" }), { typ: "at+jwt" });
    const response = await fetch(`${url()}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(401);
  });

  it("comes alone in a form of at most 16 KiB, to an issuer that has a console", async () => {
    const token = await provider().sign(claims({ sub: "absent" }));
    const twice = `logout_token=${token}&logout_token=${token}`;
    expect((await postLogout(twice)).status).toBe(400);
    expect((await postLogout(JSON.stringify({ logout_token: token }), "application/json")).status).toBe(400);
    expect((await postLogout(`logout_token=${"x".repeat(20_000)}`)).status).toBe(413);
    const elsewhere = await fetch(`${url()}/console/session/oidc/other/logout`, {
      method: "POST",
      body: new URLSearchParams({ logout_token: token }),
    });
    expect(elsewhere.status).toBe(404);
    expect((await send(token)).status).toBe(200);
  });
});

const forgedBy = (privateKey: Parameters<SignJWT["sign"]>[0], own: JWTPayload) =>
  new SignJWT(own).setProtectedHeader({ alg: "RS256", kid: "login", typ: "logout+jwt" }).sign(privateKey);
