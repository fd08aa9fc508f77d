// Measures each request until its response begins, by method, route and status. The route is the pattern, such as
// `/api/v1/runs/:run_id`, never the path.
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Metrics } from "../observe/metrics.ts";
import type { Clock } from "../runtime/clock.ts";

/** Methods that clients send. Others share one value, because a client chooses them. */
export const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export const requestMetrics =
  (metrics: Metrics, clock: Clock): MiddlewareHandler =>
  async (context, next) => {
    const startedAt = clock.monotonic();
    await next();
    const { method } = context.req;
    metrics.record("http.server.request.duration", (clock.monotonic() - startedAt) / 1000, {
      "http.request.method": METHODS.has(method) ? method : "_OTHER",
      "http.route": routeOf(context),
      "http.response.status_code": String(context.res.status),
    });
  };

/**
 * The pattern of the handler that responds: the first match that is no middleware, whose patterns end with `*`. A later
 * match is less specific: `/runs/generate` also matches `/runs/:run_id`.
 */
export const routeOf = (context: Context): string =>
  matchedRoutes(context).find(({ path }) => !path.endsWith("*"))?.path ?? "none";
