// Measures and traces each request until its response begins, by method, route and status. The route is the pattern,
// such as `/api/v1/runs/:run_id`, never the path.
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Metrics } from "../observe/metrics.ts";
import type { Tracing } from "../observe/tracing.ts";
import type { Clock } from "../runtime/clock.ts";

/** Methods that clients send. Others share one value, because a client chooses them. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

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
const routeOf = (context: Context): string =>
  matchedRoutes(context).find(({ path }) => !path.endsWith("*"))?.path ?? "none";

const UNTRACED = /^\/(?:livez|readyz|callbacks\/.*)$/;

/**
 * The span of each request of the API, from its first byte until the response begins. It continues the trace of the
 * caller. Health checks have no span, nor do callbacks of providers, which become a part of the trace of their run.
 */
export const requestTracing =
  (tracing: Tracing): MiddlewareHandler =>
  async (context, next) => {
    if (!tracing.isEnabled || UNTRACED.test(context.req.path)) return next();
    const method = METHODS.has(context.req.method) ? context.req.method : "_OTHER";
    const attributes = { "http.request.method": method, "url.scheme": context.req.url.split(":", 1)[0] };
    await tracing.inRequestSpan(
      { name: method, kind: "server", attributes },
      context.req.header("traceparent"),
      async (span) => {
        await next();
        const { status, headers } = context.res;
        const route = routeOf(context);
        span.rename(`${method} ${route}`);
        span.setAttributes({
          "http.route": route,
          "http.response.status_code": status,
          "gesso.request.id": headers.get("x-request-id") ?? undefined,
          "gesso.run.id": headers.get("x-run-id") ?? undefined,
        });
        if (status >= 500) span.fail();
      },
    );
  };
