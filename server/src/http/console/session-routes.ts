// Sign in to the console with a one-time code or an API key, list and end sessions, sign out. A credential is
// exchanged for a session at once, so the page never keeps it.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { hasValidApiKeySyntax } from "../../access/api-key.ts";
import { CODE_SECONDS, type SignIn, signInWithKey } from "../../access/sign-in/console-sessions.ts";
import { SESSION_SECONDS } from "../../access/sign-in/session-lookup.ts";
import { expiredSessionCookie, readSessionDigest, sessionCookie } from "../../access/sign-in/session-secret.ts";
import { Fault, toFault } from "../../faults/faults.ts";
import { credentialsOf } from "../credentials.ts";
import type { HttpServices } from "../http-services.ts";
import type { HttpBindings } from "../read-request.ts";
import type { SameOriginCheck } from "./same-origin.ts";

const MAX_BODY_BYTES = 4096;
const SESSION_ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const SignInRequest = z.union([
  z.strictObject({ code: z.string().min(1).max(200) }),
  z.strictObject({ key: z.string().min(1).max(500) }),
]);
const ISSUE = { path: "", code: "invalid_type", message: "Send an object with either `code` or `key`." };

export type SessionRouteOptions = {
  publicUrl: string;
  /** Whether one-time codes are offered: only where the API and its users are on this machine. */
  isLoopback: boolean;
  requireSameOrigin: SameOriginCheck;
};
type ConsoleContext = Context<HttpBindings>;

export function sessionRoutes(http: HttpServices, options: SessionRouteOptions): Hono<HttpBindings> {
  const app = new Hono<HttpBindings>();
  for (const path of ["/console/session", "/console/sessions", "/console/sessions/*", "/console/codes"]) {
    app.use(path, async (context, next) => {
      context.header("cache-control", "no-store");
      await next();
    });
  }
  app.route("/", signInRoutes(http, options));
  app.route("/", ownSessionRoutes(http, options));
  return app;
}

function signInRoutes(http: HttpServices, options: SessionRouteOptions): Hono<HttpBindings> {
  const { publicUrl, requireSameOrigin } = options;
  const { sessions, signInLimit } = http.signIn;
  const app = new Hono<HttpBindings>();
  const addressOf = (context: ConsoleContext) => http.callers.findClientAddress(context.env.incoming);
  const identifyByCode = async (context: ConsoleContext, code: string): Promise<SignIn> => {
    requireLoopback(context, options);
    const takeBack = signInLimit.countFailure(addressOf(context));
    const signIn = await sessions.exchangeCode(code).catch((thrown) => {
      // An outage is no wrong code.
      if (toFault(thrown).status !== 401) takeBack();
      throw thrown;
    });
    takeBack();
    return signIn;
  };
  const identifyByKey = async (context: ConsoleContext, key: string): Promise<SignIn> => {
    try {
      // Access tokens have no sessions.
      if (!hasValidApiKeySyntax(key)) throw new Fault("invalid_api_key");
      const headers = new Headers({ authorization: `Bearer ${key}` });
      const caller = await http.callers.authenticator.authenticate({ ...credentialsOf(http, context), headers });
      return signInWithKey(caller, "key", http.runs.clock);
    } catch (thrown) {
      if (toFault(thrown).status === 401) signInLimit.countFailure(addressOf(context));
      throw thrown;
    }
  };

  app.post("/console/session", async (context) => {
    requireSameOrigin(context);
    const request = SignInRequest.safeParse(await readSmallJson(context));
    if (!request.success) throw new Fault("validation_error", { errors: [ISSUE] });
    const { data } = request;
    const signIn = await ("code" in data ? identifyByCode(context, data.code) : identifyByKey(context, data.key));
    signInLimit.countSignIn(signIn);
    const { session, secret } = await sessions.begin(signIn, readSessionDigest(context.req.raw.headers));
    context.header("set-cookie", sessionCookie(secret, SESSION_SECONDS));
    return context.json(session, 201);
  });

  // Called with an API key by `gesso dev`, not by a page.
  app.post("/console/codes", async (context) => {
    requireLoopback(context, options);
    const code = await sessions.createCode(await http.callers.authenticator.authenticate(credentialsOf(http, context)));
    const url = `${publicUrl.replace(/\/$/, "")}/console#in=${code}`;
    return context.json({ code, expires_in: CODE_SECONDS, url }, 201);
  });
  return app;
}

function ownSessionRoutes(http: HttpServices, { requireSameOrigin }: SessionRouteOptions): Hono<HttpBindings> {
  const { sessions } = http.signIn;
  const app = new Hono<HttpBindings>();
  const requireSession = (context: ConsoleContext) => {
    requireSameOrigin(context);
    return sessions.require(credentialsOf(http, context));
  };
  app.get("/console/session", async (context) => {
    const { session, caller } = await requireSession(context);
    sessions.recordActivity(caller);
    return context.json(session);
  });
  app.delete("/console/session", async (context) => {
    try {
      const { caller, session } = await requireSession(context);
      await sessions.end(caller, session.id);
    } catch (thrown) {
      // Signing out twice, or with a session that has ended, is no error.
      if (!(thrown instanceof Fault && thrown.code === "session_required")) throw thrown;
    }
    context.header("set-cookie", expiredSessionCookie());
    return context.body(null, 204);
  });
  app.get("/console/sessions", async (context) => {
    const { caller } = await requireSession(context);
    return context.json({ data: await sessions.list(caller) });
  });
  app.delete(`/console/sessions/:session_id{${SESSION_ID}}`, async (context) => {
    const { caller, session } = await requireSession(context);
    const sessionId = context.req.param("session_id");
    if (!(await sessions.end(caller, sessionId))) throw new Fault("route_not_found");
    if (sessionId === session.id) context.header("set-cookie", expiredSessionCookie());
    return context.body(null, 204);
  });
  return app;
}

/** One-time codes work on this machine only. Elsewhere the endpoint does not exist. */
function requireLoopback({ env, req }: ConsoleContext, { isLoopback }: SessionRouteOptions): void {
  const isLocalPeer = /^(?:::ffff:)?127\.|^::1$/.test(env.incoming.socket.remoteAddress ?? "");
  // A request with this header came through a proxy, so its client may be on another machine.
  if (!isLoopback || !isLocalPeer || req.header("x-forwarded-for")) throw new Fault("route_not_found");
}

async function readSmallJson(context: ConsoleContext): Promise<unknown> {
  const type = (context.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (type !== "application/json") throw new Fault("unsupported_media_type", { accepted: ["json"] });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of context.req.raw.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Fault("payload_too_large");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch (thrown) {
    throw new Fault("invalid_json", {}, { cause: thrown });
  }
}
