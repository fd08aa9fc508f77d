// Liveness and readiness endpoints. Readiness performs a real operation on each dependency.
import { Hono } from "hono";

export type HealthChecks = Record<string, () => Promise<void>>;

const CHECK_TIMEOUT_MS = 3000;

export function healthRoutes(checks: HealthChecks): Hono {
  const app = new Hono();
  app.get("/livez", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await runHealthCheck(check)] as const),
    );
    const isReady = results.every(([, result]) => result === "ok");
    return context.json(
      { status: isReady ? "ok" : "unavailable", checks: Object.fromEntries(results) },
      isReady ? 200 : 503,
    );
  });
  return app;
}

const runHealthCheck = (check: () => Promise<void>): Promise<string> =>
  Promise.race([
    check().then(
      () => "ok",
      () => "failed",
    ),
    new Promise<string>((resolve) => setTimeout(() => resolve("timed_out"), CHECK_TIMEOUT_MS).unref()),
  ]);
