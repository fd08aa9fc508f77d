// The whole web face: operations, files, callbacks, health, and the contract itself.
import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import { Fault } from "../faults.ts";
import { WEBHOOK_USER_AGENT } from "../webhooks/message-headers.ts";
import { corsMiddleware } from "./cors.ts";
import { drainRequestBody } from "./drain-request.ts";
import { respondWithFault } from "./error-response.ts";
import { fileRoutes } from "./files.ts";
import { type HealthChecks, healthRoutes } from "./health.ts";
import { generateOpenApi } from "./openapi.ts";
import { type HttpServices, operationRoutes } from "./operation-routes.ts";
import { type CallbackSigner, callbackRoutes } from "./provider-callbacks.ts";
import type { HttpBindings } from "./read-request.ts";
import { webhookKeyRoutes } from "./webhook-keys.ts";

type HttpAppServices = HttpServices & { corsOrigins: readonly string[] };

export function createApp(desk: HttpAppServices, callbacks: CallbackSigner, checks: HealthChecks): Hono<HttpBindings> {
  const app = new Hono<HttpBindings>();
  const contract = JSON.stringify(generateOpenApi());
  app.use(async (context, next) => {
    context.header("x-request-id", `req_${randomUUID().replaceAll("-", "")}`);
    // A message of ours that found its way back would make another one, and so on.
    if (context.req.header("user-agent") === WEBHOOK_USER_AGENT)
      return respondWithFault(context, new Fault("permission_denied", { reason: "own_webhook" }), desk.house.log);
    await next();
    if (context.env.incoming) await drainRequestBody(context.env.incoming);
  });
  app.use("/api/*", corsMiddleware(desk.corsOrigins));
  app.use("/openapi.json", corsMiddleware(desk.corsOrigins));
  app.route("/", operationRoutes(desk));
  app.route("/", fileRoutes(desk.house));
  app.route("/", callbackRoutes(desk.house, callbacks));
  app.route("/", webhookKeyRoutes(desk.office, desk.house.log));
  app.route("/", healthRoutes(checks));
  app.get("/openapi.json", (context) => context.body(contract, 200, { "content-type": "application/json" }));
  app.notFound((context) => respondWithFault(context, new Fault("route_not_found"), desk.house.log));
  app.onError((thrown, context) => respondWithFault(context, thrown, desk.house.log));
  return app;
}
