// The HTTP application: operations, the MCP server, OpenAI's image API, files, exports, provider callbacks, webhook
// keys, health, the OpenAPI document, the console and a few HTML pages.
import { Hono } from "hono";
import { generateOpenApi } from "../contract/openapi.ts";
import { Fault } from "../faults/faults.ts";
import { operations } from "../operations/all.ts";
import { VERSION } from "../runtime/version.ts";
import { WEBHOOK_USER_AGENT } from "../webhooks/message-headers.ts";
import { drainRequestBody } from "./bodies/drain-request.ts";
import { cliConfigRoutes } from "./cli-config.ts";
import { type ConsoleOptions, consoleRoutes } from "./console/console-routes.ts";
import { corsMiddleware } from "./cors.ts";
import { createDownloadLimit } from "./downloads/download-limit.ts";
import { exportRoutes } from "./downloads/exports.ts";
import { fileRoutes } from "./downloads/files.ts";
import { respondWithFault } from "./error-response.ts";
import { type HealthChecks, healthRoutes } from "./health.ts";
import type { HttpServices } from "./http-services.ts";
import { type McpOptions, mcpRoutes } from "./mcp/mcp-routes.ts";
import { requestMetrics, requestTracing } from "./observe-requests.ts";
import { openAiRoutes } from "./openai/openai-routes.ts";
import { operationRoutes } from "./operation-routes.ts";
import { errorPageRoutes } from "./pages/error-pages.ts";
import { startPageRoutes } from "./pages/start-page.ts";
import { type CallbackSigner, callbackRoutes } from "./provider-callbacks.ts";
import type { HttpBindings } from "./read-request.ts";
import { webhookKeyRoutes } from "./webhook-keys.ts";

export type HttpAppOptions = {
  callbacks: CallbackSigner;
  checks: HealthChecks;
  corsOrigins: readonly string[];
  /** Concurrent downloads of one client address. 0: no limit. */
  addressDownloads: number;
  /** URL of this server as its users write it. */
  publicUrl: string;
  /** Undefined: no console. */
  console?: Omit<ConsoleOptions, "publicUrl"> | undefined;
  mcp: Pick<McpOptions, "issuerUrls" | "confirmation" | "stateSecrets">;
};

export function createApp(
  http: HttpServices,
  { callbacks, checks, corsOrigins, addressDownloads, publicUrl, console: consoleOptions, mcp }: HttpAppOptions,
): Hono<HttpBindings> {
  const { log, metrics, tracing, clock } = http.runs;
  const app = new Hono<HttpBindings>();
  app.use(requestMetrics(metrics, clock));
  app.use(requestTracing(tracing));
  app.use(async (context, next) => {
    context.header("x-request-id", `req_${http.runs.ids.next().replaceAll("-", "")}`);
    context.header("x-gesso-version", VERSION);
    // A webhook sent to this API could create an event that sends the next webhook, in an endless loop.
    if (context.req.header("user-agent") === WEBHOOK_USER_AGENT)
      return respondWithFault(context, new Fault("permission_denied", { reason: "own_webhook" }), log);
    await next();
    if (context.env.incoming) await drainRequestBody(context.env.incoming, clock);
  });
  app.use("/api/*", corsMiddleware(corsOrigins));
  app.use("/openapi.json", corsMiddleware(corsOrigins));
  app.route("/", operationRoutes(http));
  app.route("/", mcpRoutes(http, { ...mcp, publicUrl, corsOrigins }));
  app.route("/", openAiRoutes(http));
  app.route("/", fileRoutes(http.runs, createDownloadLimit(http.callers.findClientAddress, addressDownloads)));
  app.route("/", exportRoutes(http));
  app.route("/", callbackRoutes(http.runs, callbacks));
  app.route("/", webhookKeyRoutes(http.webhooks, log));
  app.route("/", healthRoutes(checks, http.runs.clock));
  app.route("/", errorPageRoutes());
  app.route("/", cliConfigRoutes(http.signIn.cliIssuers));
  if (consoleOptions) app.route("/", consoleRoutes(http, { ...consoleOptions, publicUrl }));
  app.route("/", startPageRoutes(publicUrl, consoleOptions !== undefined));
  // Generated for the first caller, because it would delay the start by almost half a second.
  let openApi: string | undefined;
  app.get("/openapi.json", (context) => {
    openApi ??= JSON.stringify(generateOpenApi(operations));
    return context.body(openApi, 200, { "content-type": "application/json" });
  });
  app.notFound((context) => respondWithFault(context, new Fault("route_not_found"), log));
  app.onError((thrown, context) => respondWithFault(context, thrown, log));
  return app;
}
