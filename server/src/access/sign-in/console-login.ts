// Sign-in to the console at an identity provider: the authorization code flow of OpenID Connect with PKCE, state and
// nonce, on the server. No token ever reaches the page.
//
// State, nonce and PKCE verifier are derived from a cookie with 256 random bits and a secret of the server. So a
// login in progress needs no storage, works with any process, and can only be finished by the browser that started
// it.
import { createHmac, randomBytes } from "node:crypto";
import { decodeProtectedHeader } from "jose";
import * as oidc from "openid-client";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { SecretKeys } from "../../runtime/secret-keys.ts";
import type { ConsoleIssuer, Issuers } from "../tokens/issuers.ts";
import { isProtected } from "../tokens/jwks.ts";
import type { SignIn } from "./console-sessions.ts";
import { RECENT_LOGIN_SECONDS } from "./recent-login.ts";
import { SESSION_SECONDS } from "./session-lookup.ts";

/** A person has this long to log in at the identity provider. */
export const LOGIN_SECONDS = 10 * 60;
const DISCOVERY_MS = 60 * 60 * 1000;
/** Pages of the console only: another URL could look like the console. No segment is empty, `.` or `..`. */
const RETURN_PATH = /^\/console(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*\/?(?:\?[A-Za-z0-9._~=&%-]*)?$/;
const MAX_RETURN_PATH = 500;

export type ConsoleLogin = {
  /** `cookie` must come back with the response of the identity provider. `isAgain`: ask for the password again. */
  start(issuerId: string, request: LoginStart): Promise<{ url: string; cookie: string }>;
  /** `query` is the query string with which the identity provider sends the browser back. */
  finish(issuerId: string, query: string, cookie: string | undefined): Promise<FinishedLogin>;
};
/** `replacedDigest`: of the session that the browser has, whose cookie it does not send on the way back. */
type LoginStart = { returnTo: string | undefined; isAgain: boolean; replacedDigest: Buffer | undefined };
type FinishedLogin = { signIn: SignIn; returnTo: string; replacedDigest: Buffer | undefined };
type HttpFetch = (
  url: string,
  request: { method: string; headers: Record<string, string>; body?: unknown },
) => Promise<Response>;

export type ConsoleLoginDependencies = {
  issuers: Pick<Issuers, "findConsoleIssuer" | "identify">;
  secrets: SecretKeys;
  /** Must not follow redirects. */
  send: HttpFetch;
  clock: Pick<Clock, "now">;
  publicUrl: string;
};

export function createConsoleLogin(dependencies: ConsoleLoginDependencies): ConsoleLogin {
  const { issuers, secrets, clock, publicUrl } = dependencies;
  const discovered = new Map<string, { configuration: Promise<oidc.Configuration>; at: number }>();

  const requireIssuer = (id: string): ConsoleIssuer => {
    const issuer = issuers.findConsoleIssuer(id);
    if (!issuer) throw new Fault("route_not_found");
    return issuer;
  };
  const discover = (issuer: ConsoleIssuer): Promise<oidc.Configuration> => {
    const known = discovered.get(issuer.id);
    if (known && clock.now() - known.at < DISCOVERY_MS) return known.configuration;
    const configuration = discoverIssuer(issuer, dependencies.send);
    discovered.set(issuer.id, { configuration, at: clock.now() });
    configuration.catch(() => discovered.delete(issuer.id));
    return configuration;
  };
  const redirectUri = (issuerId: string) => `${publicUrl.replace(/\/$/, "")}/console/session/oidc/${issuerId}/callback`;

  return {
    start: (issuerId, { returnTo, ...request }) =>
      asSignInFault(async () => {
        const issuer = requireIssuer(issuerId);
        const configuration = await discover(issuer);
        const cookie = writeLogin({ startedAt: clock.now(), ...request, returnTo: readReturnPath(returnTo) });
        const { state, nonce, verifier } = deriveValues(secrets[0], issuerId, cookie);
        const url = oidc.buildAuthorizationUrl(configuration, {
          ...{ redirect_uri: redirectUri(issuerId), scope: issuer.console.scope, state, nonce },
          ...{ code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" },
          // With max_age, the provider has to say when the person logged in. Without a recent login it asks again.
          ...(request.isAgain
            ? { prompt: "login", max_age: String(RECENT_LOGIN_SECONDS) }
            : { max_age: String(SESSION_SECONDS) }),
        });
        return { url: url.href, cookie };
      }),

    finish: (issuerId, query, cookie) =>
      asSignInFault(async () => {
        const issuer = requireIssuer(issuerId);
        const { login, values } = requireOpenLogin(dependencies, issuerId, query, cookie);
        const tokens = await oidc.authorizationCodeGrant(
          await discover(issuer),
          new URL(`${redirectUri(issuerId)}?${query.replace(/^\?/, "")}`),
          {
            ...{ expectedState: values.state, expectedNonce: values.nonce, pkceCodeVerifier: values.verifier },
            idTokenExpected: true,
            ...(login.isAgain && { maxAge: RECENT_LOGIN_SECONDS }),
          },
        );
        const claims = requireClaims(tokens, issuer);
        const { tenant_id, user_id, scopes } = await issuers.identify(issuer, claims);
        const last_login_at = readLoginTime(claims, clock);
        const identity = { tenant_id, user_id, scopes, key_id: null, issuer: issuerId };
        const providerSession = {
          provider_subject: claims.sub,
          provider_session: typeof claims.sid === "string" ? claims.sid : undefined,
        };
        const { returnTo, replacedDigest } = login;
        return { signIn: { ...identity, ...providerSession, method: "oidc", last_login_at }, returnTo, replacedDigest };
      }),
  };
}

/** The login that this browser started and the response belongs to. */
function requireOpenLogin(
  { secrets, clock }: ConsoleLoginDependencies,
  issuerId: string,
  query: string,
  cookie: string | undefined,
) {
  const state = new URLSearchParams(query).get("state");
  const login = cookie === undefined ? undefined : readLogin(cookie);
  const values = secrets
    .map((secret) => deriveValues(secret, issuerId, cookie ?? ""))
    .find((each) => each.state === state);
  const isOpen = login !== undefined && clock.now() - login.startedAt < LOGIN_SECONDS * 1000;
  if (!login || !values || !isOpen) throw new Fault("sign_in_failed", { reason: "not_started_here" });
  return { login, values };
}

/** The library has verified the ID token; its algorithm must also be one that the operator permits. */
function requireClaims(tokens: Tokens, { algorithms }: ConsoleIssuer): oidc.IDToken {
  const claims = tokens.claims();
  const { alg } = decodeProtectedHeader(tokens.id_token ?? "");
  if (!claims || !algorithms.some((each) => each === alg)) throw new Fault("invalid_token");
  return claims;
}
type Tokens = Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>;

/** Null if the provider did not say when the person logged in. A provider whose clock is ahead gains nothing. */
const readLoginTime = ({ auth_time }: oidc.IDToken, clock: Pick<Clock, "now">): Date | null =>
  auth_time === undefined ? null : new Date(Math.min(auth_time * 1000, clock.now()));

async function discoverIssuer(
  { issuer, console: { client_id, client_secret } }: ConsoleIssuer,
  send: HttpFetch,
): Promise<oidc.Configuration> {
  const sendProtected: oidc.CustomFetch = async (url, { method, headers, body }) => {
    if (!isProtected(url)) throw new Fault("sign_in_failed", { reason: "insecure_url" });
    return send(url, { method, headers, body }).catch((cause) => {
      throw new Fault("dependency_unavailable", {}, { cause });
    });
  };
  const isPlain = new URL(issuer).protocol === "http:";
  return oidc.discovery(new URL(issuer), client_id, undefined, authenticateClient(client_secret), {
    [oidc.customFetch]: sendProtected,
    // Signatures are verified, although the ID token comes from the provider itself.
    execute: [oidc.enableNonRepudiationChecks, ...(isPlain ? [oidc.allowInsecureRequests] : [])],
  });
}

/** OpenID Connect's default is HTTP Basic; a provider without it gets the secret in the form. */
function authenticateClient(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = methods.includes("client_secret_basic")
      ? oidc.ClientSecretBasic(secret)
      : oidc.ClientSecretPost(secret);
    return authenticate(server, client, body, headers);
  };
}

type LoginInProgress = Omit<LoginStart, "returnTo"> & { startedAt: number; returnTo: string };

/** All parts are covered by the derived state, so that a changed cookie does not match the response. */
const writeLogin = ({ startedAt, isAgain, returnTo, replacedDigest }: LoginInProgress): string =>
  [startedAt.toString(36), randomBytes(32).toString("base64url"), isAgain ? "again" : "first"]
    .concat(Buffer.from(returnTo).toString("base64url"), replacedDigest?.toString("base64url") ?? "")
    .join(".");

function readLogin(cookie: string): LoginInProgress {
  const [startedAt = "", , isAgain, returnTo = "", replaced = ""] = cookie.split(".");
  return {
    startedAt: Number.parseInt(startedAt, 36),
    isAgain: isAgain === "again",
    returnTo: readReturnPath(Buffer.from(returnTo, "base64url").toString()),
    replacedDigest: replaced === "" ? undefined : Buffer.from(replaced, "base64url"),
  };
}

function deriveValues(secret: Uint8Array, issuerId: string, cookie: string) {
  const derive = (purpose: string) =>
    createHmac("sha256", secret).update(`${purpose} ${issuerId} ${cookie}`).digest("base64url");
  return { state: derive("state"), nonce: derive("nonce"), verifier: derive("verifier") };
}

/** A path that is not one of the console's becomes its first page. */
const readReturnPath = (path: string | undefined): string =>
  path !== undefined && path.length <= MAX_RETURN_PATH && RETURN_PATH.test(path) ? path : "/console/";

/** What the library throws is logged as the cause; the person gets an error of the catalogue. */
async function asSignInFault<Result>(attempt: () => Promise<Result>): Promise<Result> {
  try {
    return await attempt();
  } catch (thrown) {
    const cause = (thrown as { cause?: unknown }).cause;
    if (thrown instanceof Fault) throw thrown;
    if (cause instanceof Fault) throw cause;
    const reason = (thrown as { error?: unknown }).error === "access_denied" ? "access_denied" : "identity_provider";
    throw new Fault("sign_in_failed", { reason }, { cause: thrown });
  }
}
