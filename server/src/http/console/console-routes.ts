// The console below `/console`: its files, the sign-in, and the operations of the API with the session cookie as their
// only credential. The cookie counts nowhere else.
import { Hono } from "hono";
import { VERSION } from "../../runtime/version.ts";
import { acceptsEventStream } from "../event-stream.ts";
import type { HttpServices } from "../http-services.ts";
import { operationRoutes } from "../operation-routes.ts";
import type { HttpBindings } from "../read-request.ts";
import { loginRoutes } from "./login-routes.ts";
import { consolePageRoutes } from "./page-routes.ts";
import { createSameOriginCheck } from "./same-origin.ts";
import { sessionRoutes } from "./session-routes.ts";

export type ConsoleOptions = {
  /** Folder of the built console. It may be missing. */
  folder: string;
  publicUrl: string;
  /** Whether the API and its users are on this machine. */
  isLoopback: boolean;
};

export function consoleRoutes(
  http: HttpServices,
  { folder, publicUrl, isLoopback }: ConsoleOptions,
): Hono<HttpBindings> {
  const { sessions, issuerIds } = http.signIn;
  const requireSameOrigin = createSameOriginCheck(publicUrl);
  const app = new Hono<HttpBindings>();
  const oidc = issuerIds.map((id) => ({ id, url: `/console/session/oidc/${id}` }));
  const config = {
    version: VERSION,
    public_url: publicUrl,
    sign_in_methods: { code: isLoopback, key: true, oidc },
  };
  app.get("/console/config.json", (context) => context.json(config, 200, { "cache-control": "no-store" }));
  app.route("/", sessionRoutes(http, { publicUrl, isLoopback, requireSameOrigin }));
  app.route("/", loginRoutes(http));
  app.route(
    "/",
    operationRoutes(
      { ...http, callers: { ...http.callers, authenticator: sessions } },
      {
        prefix: "/console/api/v1",
        checkRequest(context, operation) {
          context.header("cache-control", "no-store");
          context.header("cross-origin-resource-policy", "same-origin");
          const isStream = operation.events !== undefined && context.req.method === "GET";
          requireSameOrigin(context, { isOwnHeaderRequired: !(isStream && acceptsEventStream(context)) });
        },
        // A stream stays open, and reconnects, in a tab that its user has left.
        onAdmitted(caller, operation) {
          if (!operation.events) sessions.recordActivity(caller);
        },
      },
    ),
  );
  app.route("/", consolePageRoutes(folder, publicUrl));
  return app;
}
