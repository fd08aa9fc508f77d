// All routes under /v1. All except health and files require the key.
import { Hono } from "hono";
import { notFound, respondWithError } from "./error-response.ts";
import { behaviourRoutes } from "./routes/behaviour.ts";
import { fileRoutes } from "./routes/files.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { ledgerRoutes } from "./routes/ledger.ts";
import type { Bindings, SandboxServices } from "./sandbox-services.ts";

export const createApp = (services: SandboxServices): Hono<Bindings> => {
  const app = new Hono<Bindings>();
  app.get("/v1/health", (context) => context.json({ status: "ok" }));
  app.route("/v1/files", fileRoutes(services));
  app.use(async (context, next) => {
    if (context.req.header("authorization") === `Bearer ${services.key}`) return next();
    return respondWithError(context, {
      status: 401,
      code: "unauthorized",
      message: "The API key is missing or invalid.",
    });
  });
  app.route("/v1/jobs", jobRoutes(services));
  app.route("/v1/ledger", ledgerRoutes(services));
  app.route("/v1/behaviour", behaviourRoutes(services));
  app.notFound((context) => respondWithError(context, notFound));
  app.onError((cause, context) => respondWithError(context, { status: 500, code: "internal", message: cause.message }));
  return app;
};
