// The whole web face: operations, files, callbacks, health, and the contract itself.
import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import { Fault } from "../faults.ts";
import { USER_AGENT } from "../webhooks/headers.ts";
import { answerFault } from "./answer.ts";
import { type CallbackSigner, callbackRoutes } from "./callbacks.ts";
import { allowOrigins } from "./cors.ts";
import { fileRoutes } from "./files.ts";
import { type Checks, healthRoutes } from "./health.ts";
import { readToEnd } from "./leftover.ts";
import { printOpenApi } from "./openapi.ts";
import { type Desk, operationRoutes } from "./operations.ts";
import type { Bindings } from "./read.ts";
import { webhookKeyRoutes } from "./webhook-keys.ts";

type Face = Desk & { corsOrigins: readonly string[] };

export function createApp(desk: Face, callbacks: CallbackSigner, checks: Checks): Hono<Bindings> {
  const app = new Hono<Bindings>();
  const contract = JSON.stringify(printOpenApi());
  app.use(async (context, next) => {
    context.header("x-request-id", `req_${randomUUID().replaceAll("-", "")}`);
    // A message of ours that found its way back would make another one, and so on.
    if (context.req.header("user-agent") === USER_AGENT)
      return answerFault(context, new Fault("permission_denied", { reason: "own_webhook" }), desk.house.log);
    await next();
    if (context.env.incoming) await readToEnd(context.env.incoming);
  });
  app.use("/api/*", allowOrigins(desk.corsOrigins));
  app.use("/openapi.json", allowOrigins(desk.corsOrigins));
  app.route("/", operationRoutes(desk));
  app.route("/", fileRoutes(desk.house));
  app.route("/", callbackRoutes(desk.house, callbacks));
  app.route("/", webhookKeyRoutes(desk.office, desk.house.log));
  app.route("/", healthRoutes(checks));
  app.get("/openapi.json", (context) => context.body(contract, 200, { "content-type": "application/json" }));
  app.notFound((context) => answerFault(context, new Fault("route_not_found"), desk.house.log));
  app.onError((thrown, context) => answerFault(context, thrown, desk.house.log));
  return app;
}
