// Whether this process lives, and whether it can do its work: each part is really tried.
import { Hono } from "hono";

export type Checks = Record<string, () => Promise<void>>;

const MOST_MS = 3000;

export function healthRoutes(checks: Checks): Hono {
  const app = new Hono();
  app.get("/livez", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await outcome(check)] as const),
    );
    const isReady = results.every(([, result]) => result === "ok");
    return context.json(
      { status: isReady ? "ok" : "unavailable", checks: Object.fromEntries(results) },
      isReady ? 200 : 503,
    );
  });
  return app;
}

const outcome = (check: () => Promise<void>): Promise<string> =>
  Promise.race([
    check().then(
      () => "ok",
      () => "failed",
    ),
    new Promise<string>((resolve) => setTimeout(() => resolve("timed_out"), MOST_MS).unref()),
  ]);
