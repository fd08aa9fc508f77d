// A real identity provider with login pages on a socket of this machine, and a browser that logs in there.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, type JWTPayload, SignJWT } from "jose";
import Provider from "oidc-provider";
import { newSigner } from "../corpora/tokens.ts";

export const CONSOLE_CLIENT = { client_id: "console", client_secret: "a secret of the console in a test" };

/** A public client for native applications, which may be sent back to any port of 127.0.0.1. */
export const CLI_CLIENT = { client_id: "cli", scope: "openid images:write runs:read keys:write" };
export const CLI_AUDIENCE = "urn:gesso:cli";

export type LoginProvider = {
  issuer: string;
  /** Signs any token as the provider would. */
  sign(claims: JWTPayload, header?: object): Promise<string>;
  /** The person can no longer sign in, and codes that were issued for them are worth nothing. */
  disable(login: string): void;
  /** Claims of the person's ID tokens from now on, such as groups. */
  setClaims(login: string, claims: { groups?: string[] }): void;
  close(): void;
};

/**
 * `redirectUris` is called with the first request: a test can start its API after the provider. `logoutUri` is where
 * the provider tells the console that a person has signed out.
 */
export async function startLoginProvider(
  redirectUris: () => string[],
  logoutUri?: () => string,
): Promise<LoginProvider> {
  const { privateKey, kid, alg } = await newSigner("RS256", "login");
  const jwk = { ...(await exportJWK(privateKey)), kid, alg, use: "sig" };
  const disabled = new Set<string>();
  const claims = new Map<string, object>();
  const create = () =>
    new Provider(issuer, {
      jwks: { keys: [jwk] as never },
      clients: [
        {
          ...{ ...CONSOLE_CLIENT, redirect_uris: redirectUris() },
          ...{ grant_types: ["authorization_code"], response_types: ["code"], id_token_signed_response_alg: alg },
          ...(logoutUri && { backchannel_logout_uri: logoutUri(), backchannel_logout_session_required: true }),
        },
        {
          ...{ client_id: CLI_CLIENT.client_id, application_type: "native", token_endpoint_auth_method: "none" },
          ...{ redirect_uris: ["http://127.0.0.1/callback"], grant_types: ["authorization_code"] },
          ...{ response_types: ["code"], id_token_signed_response_alg: alg },
        },
      ],
      features: {
        backchannelLogout: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            ...{ scope: CLI_CLIENT.scope.replace("openid ", ""), audience: CLI_AUDIENCE, accessTokenTTL: 600 },
            ...{ accessTokenFormat: "jwt" as const, jwt: { sign: { alg } } },
          }),
        },
      },
      // Its own dispatcher refuses addresses of this machine, where the console of the test is.
      fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
      findAccount: (_context, login) =>
        disabled.has(login) ? undefined : { accountId: login, claims: () => ({ sub: login, ...claims.get(login) }) },
      // As most providers do, it puts the groups into the ID token.
      claims: { openid: ["sub", "groups"] },
      conformIdTokenClaims: false,
      cookies: { keys: ["a key of cookies in a test"] },
      pkce: { required: () => true },
      // The console is the provider's own application: nothing is asked beyond the login.
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
        grant.addOIDCScope("openid");
        grant.addResourceScope(CLI_AUDIENCE, CLI_CLIENT.scope.replace("openid ", ""));
        await grant.save();
        return grant;
      },
    }).callback();
  let handle: ReturnType<typeof create> | undefined;
  const server = createServer((request, response) => {
    handle ??= create();
    void handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid, typ: "logout+jwt", ...header }).sign(privateKey),
    disable: (login) => void disabled.add(login),
    setClaims: (login, own) => void claims.set(login, own),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Cookies by host and name, as a browser keeps them. */
export type Browser = { cookies: Map<string, string> };
export const openBrowser = (): Browser => ({ cookies: new Map() });

const hostOf = (url: string) => new URL(url).host;

/** Sends one request with the cookies of its host, and keeps those of the response. Follows no redirect. */
export async function visit({ cookies }: Browser, url: string, init: RequestInit = {}): Promise<Response> {
  const own = [...cookies].filter(([name]) => name.startsWith(`${hostOf(url)} `));
  const cookie = own.map(([name, value]) => `${name.split(" ")[1]}=${value}`).join("; ");
  const response = await fetch(url, { ...init, redirect: "manual", headers: { ...init.headers, cookie } });
  for (const each of response.headers.getSetCookie()) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
    if (value === "" || /max-age=0|expires=thu, 01 jan 1970/i.test(each)) cookies.delete(`${hostOf(url)} ${name}`);
    else cookies.set(`${hostOf(url)} ${name}`, value);
  }
  return response;
}

/** Signs out at the provider's own page. */
export async function logOutAtProvider(browser: Browser, issuer: string): Promise<void> {
  const page = await (await visit(browser, `${issuer}/session/end`)).text();
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1];
  if (!xsrf) throw new Error(`the provider has no page to sign out: ${page.slice(0, 500)}`);
  await visit(browser, `${issuer}/session/end/confirm`, {
    method: "POST",
    body: new URLSearchParams({ xsrf, logout: "yes" }),
  });
}

/** Logs in at the provider's pages, and returns the URL with which it sends the browser back. */
export async function logInAtProvider(browser: Browser, startUrl: string, login: string): Promise<string> {
  const { host } = new URL(startUrl);
  let url = startUrl;
  for (let steps = 0; steps < 10; steps++) {
    const response = await visit(browser, url);
    const location = response.headers.get("location");
    if (location) {
      url = new URL(location, url).href;
      if (hostOf(url) !== host) return url;
      continue;
    }
    const page = await response.text();
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    // The provider asks for consent too if the client is a native application.
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? "login";
    if (!action) throw new Error(`${url} has no form`);
    const submitted = await visit(browser, new URL(action, url).href, {
      method: "POST",
      body: new URLSearchParams({ prompt, login, password: "any" }),
    });
    url = new URL(submitted.headers.get("location")!, url).href;
  }
  throw new Error("the provider did not send the browser back");
}
