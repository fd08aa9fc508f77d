// Signs in at an identity provider with the browser: the authorization code flow of OAuth 2.0 for native applications
// (RFC 8252), with PKCE and a server on a free port of 127.0.0.1 that receives the code. Returns an access token.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { commandError, isCommandError } from "../../command-error.ts";
import { openTarget } from "../../open-target.ts";
import { toHarmlessText } from "../../output/terminal.ts";

/** An identity provider, as the server describes it to this program. */
export type CliIssuer = {
  id: string;
  issuer: string;
  client_id: string;
  scope: string;
  parameters: Record<string, string>;
};
type ProviderMetadata = { issuer: string; authorization_endpoint: string; token_endpoint: string };

const SIGN_IN_MS = 10 * 60 * 1000;
const REQUEST_MS = 15_000;
const CALLBACK_PATH = "/callback";

export async function signInWithBrowser(issuer: CliIssuer): Promise<string> {
  const metadata = await discoverProvider(issuer);
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(32).toString("base64url");
  const receiver = await startCodeReceiver(state, issuer.issuer);
  try {
    const url = new URL(metadata.authorization_endpoint);
    const parameters = {
      ...issuer.parameters,
      ...{ response_type: "code", client_id: issuer.client_id, redirect_uri: receiver.redirectUri },
      ...{ scope: issuer.scope, state, code_challenge_method: "S256" },
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    process.stderr.write(`Sign in with your browser. If it does not open, visit:\n\n  ${url.href}\n\n`);
    openTarget(url.href);
    const code = await receiver.code;
    return await exchangeCode(metadata, issuer, { code, verifier, redirectUri: receiver.redirectUri });
  } finally {
    receiver.close();
  }
}

async function discoverProvider({ issuer }: CliIssuer): Promise<ProviderMetadata> {
  const metadata = await requestJson<ProviderMetadata>(
    `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    issuer,
  );
  if (metadata.issuer !== issuer) throw failure(issuer, "it describes itself with another issuer");
  return metadata;
}

type CodeReceiver = { redirectUri: string; code: Promise<string>; close(): void };

async function startCodeReceiver(state: string, issuer: string): Promise<CodeReceiver> {
  const { promise: code, resolve, reject } = Promise.withResolvers<string>();
  // A failure before the code is awaited must not end the process.
  code.catch(() => {});
  const server = createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://127.0.0.1");
    const isOwn = pathname === CALLBACK_PATH && query.get("state") === state;
    // RFC 9207: another identity provider must not finish this sign-in.
    if (!isOwn || (query.get("iss") ?? issuer) !== issuer) return respond(response, 404, "Not found.");
    const received = query.get("code");
    if (received !== null) {
      respond(response, 200, "You are signed in. You can close this page.");
      return resolve(received);
    }
    respond(response, 400, "The sign-in failed. The terminal shows more.");
    reject(failure(issuer, printable(query.get("error_description") ?? query.get("error") ?? "no code was sent")));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const timer = setTimeout(() => reject(failure(issuer, "it did not finish within 10 minutes")), SIGN_IN_MS);
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${CALLBACK_PATH}`,
    code,
    close() {
      clearTimeout(timer);
      server.close();
      server.closeIdleConnections();
    },
  };
}

function respond(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`<!doctype html><html lang="en"><title>Gesso</title><h1>Gesso</h1><p>${message}</p></html>\n`);
}

async function exchangeCode(
  { token_endpoint }: ProviderMetadata,
  { issuer, client_id, parameters }: CliIssuer,
  { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
): Promise<string> {
  const form = {
    ...parameters,
    ...{ grant_type: "authorization_code", code, redirect_uri: redirectUri, client_id, code_verifier: verifier },
  };
  const { access_token } = await requestJson<{ access_token?: string }>(token_endpoint, issuer, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  if (!access_token) throw failure(issuer, "it issued no access token");
  return access_token;
}

async function requestJson<Body>(url: string, issuer: string, init: RequestInit = {}): Promise<Body> {
  if (!isProtected(url)) throw failure(issuer, "it uses a URL without https");
  try {
    const response = await fetch(url, { ...init, redirect: "error", signal: AbortSignal.timeout(REQUEST_MS) });
    const body = (await response.json()) as Body & { error?: string; error_description?: string };
    if (response.ok) return body;
    throw failure(issuer, printable(body.error_description ?? body.error ?? `status ${response.status}`));
  } catch (thrown) {
    if (isCommandError(thrown)) throw thrown;
    throw failure(issuer, `no valid response from ${new URL(url).host}`);
  }
}

const isProtected = (url: string): boolean => {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
};

const failure = (issuer: string, reason: string) =>
  commandError("auth", `The sign-in at ${issuer} failed: ${reason}. To use an API key instead, add --with-key.`);

/** Text of another server, which must not control the terminal. */
const printable = (text: string): string => toHarmlessText(text).slice(0, 200);
