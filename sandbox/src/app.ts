// All routes under /v1, and the key that guards all but health and files.
import { Hono } from "hono";
import { notFound, refuse } from "./refusal.ts";
import { behaviourRoutes } from "./routes/behaviour.ts";
import { fileRoutes } from "./routes/files.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { ledgerRoutes } from "./routes/ledger.ts";
import type { Bindings, Vendor } from "./vendor.ts";

export const createApp = (vendor: Vendor): Hono<Bindings> => {
  const app = new Hono<Bindings>();
  app.get("/v1/health", (context) => context.json({ status: "ok" }));
  app.route("/v1/files", fileRoutes(vendor));
  app.use(async (context, next) => {
    if (context.req.header("authorization") === `Bearer ${vendor.key}`) return next();
    return refuse(context, { status: 401, code: "unauthorized", message: "The key is missing or wrong." });
  });
  app.route("/v1/jobs", jobRoutes(vendor));
  app.route("/v1/ledger", ledgerRoutes(vendor));
  app.route("/v1/behaviour", behaviourRoutes(vendor));
  app.notFound((context) => refuse(context, notFound));
  app.onError((cause, context) => refuse(context, { status: 500, code: "internal", message: cause.message }));
  return app;
};
