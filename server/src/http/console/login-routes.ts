// Sign in to the console at an identity provider: sends the browser there, and begins a session when it comes back.
// Both are navigations, so a failure leads to the console's sign-in page, with the code and the request id of the
// error. The provider itself sends a request when a person signs out there or is locked: their sessions end.
import { Hono } from "hono";
import { LOGIN_SECONDS } from "../../access/sign-in/console-login.ts";
import { SESSION_SECONDS } from "../../access/sign-in/session-lookup.ts";
import { readCookies, readSessionDigest, sessionCookie } from "../../access/sign-in/session-secret.ts";
import { Fault, toFault } from "../../faults/faults.ts";
import { respondWithFault } from "../error-response.ts";
import type { HttpServices } from "../http-services.ts";
import type { HttpBindings } from "../read-request.ts";

/** `Lax`, unlike the session, because the browser comes back from another site. The cookie alone grants nothing. */
const LOGIN_COOKIE = "__Host-gesso-login";
const LOGIN_ATTRIBUTES = "Path=/; HttpOnly; Secure; SameSite=Lax";
const ISSUER_ID = "[a-z0-9][a-z0-9-]{0,31}";
const MAX_LOGOUT_BYTES = 16 * 1024;
const FORM = "application/x-www-form-urlencoded";

export function loginRoutes({ signIn: { sessions, login, issuers }, runs: { log } }: HttpServices): Hono<HttpBindings> {
  const app = new Hono<HttpBindings>();
  const failurePath = (thrown: unknown, requestId: string) => {
    const fault = toFault(thrown);
    log.warn({ request_id: requestId, code: fault.code, err: fault.cause ?? fault }, "sign-in to the console failed");
    return `/console/?${new URLSearchParams({ sign_in_error: fault.code, request_id: requestId })}`;
  };
  app.use("/console/session/oidc/*", async (context, next) => {
    context.header("cache-control", "no-store");
    context.header("referrer-policy", "no-referrer");
    await next();
  });

  app.get(`/console/session/oidc/:issuer{${ISSUER_ID}}`, async (context) => {
    try {
      const { url, cookie } = await login.start(context.req.param("issuer"), {
        returnTo: context.req.query("return_to"),
        isAgain: context.req.query("again") === "true",
        replacedDigest: readSessionDigest(context.req.raw.headers),
      });
      context.header("set-cookie", `${LOGIN_COOKIE}=${cookie}; ${LOGIN_ATTRIBUTES}; Max-Age=${LOGIN_SECONDS}`);
      return context.redirect(url);
    } catch (thrown) {
      return context.redirect(failurePath(thrown, context.res.headers.get("x-request-id") ?? ""));
    }
  });

  app.get(`/console/session/oidc/:issuer{${ISSUER_ID}}/callback`, async (context) => {
    const { headers } = context.req.raw;
    const cookies = readCookies(headers, LOGIN_COOKIE);
    context.header("set-cookie", `${LOGIN_COOKIE}=; ${LOGIN_ATTRIBUTES}; Max-Age=0`);
    try {
      const query = new URL(context.req.url).search;
      const cookie = cookies.length === 1 ? cookies[0] : undefined;
      const { signIn, returnTo, replacedDigest } = await login.finish(context.req.param("issuer"), query, cookie);
      const { secret } = await sessions.begin(signIn, replacedDigest);
      context.header("set-cookie", sessionCookie(secret, SESSION_SECONDS), { append: true });
      return context.redirect(returnTo);
    } catch (thrown) {
      return context.redirect(failurePath(thrown, context.res.headers.get("x-request-id") ?? ""));
    }
  });
  // The provider has no cookie and no page of this origin: its signed token is the credential.
  app.post(`/console/session/oidc/:issuer{${ISSUER_ID}}/logout`, async (context) => {
    try {
      const logout = issuers.verifyLogout(context.req.param("issuer"), await readLogoutToken(context.req.raw));
      if (!logout) throw new Fault("route_not_found");
      await sessions.endByProvider(await logout);
      return context.body(null, 200);
    } catch (thrown) {
      const fault = toFault(thrown);
      const isRefused = ["invalid_token", "token_expired", "validation_error"].includes(fault.code);
      if (!isRefused) return respondWithFault(context, fault, log);
      log.warn({ request_id: context.res.headers.get("x-request-id"), err: fault }, "back-channel logout refused");
      return context.json({ error: "invalid_request", error_description: fault.message }, 400);
    }
  });
  return app;
}

async function readLogoutToken({ headers, body }: Request): Promise<string> {
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_LOGOUT_BYTES) throw new Fault("payload_too_large", { max_bytes: MAX_LOGOUT_BYTES });
    chunks.push(chunk);
  }
  const tokens = type === FORM ? new URLSearchParams(Buffer.concat(chunks).toString()).getAll("logout_token") : [];
  if (tokens.length !== 1) throw new Fault("validation_error");
  return tokens[0]!;
}
