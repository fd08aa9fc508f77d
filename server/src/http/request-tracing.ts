// The span of each request of the API, from its first byte until the response begins. It continues the trace of the
// caller. Health checks have no span, nor do callbacks of providers, which become a part of the trace of their run.
import type { MiddlewareHandler } from "hono";
import type { Tracing } from "../observe/tracing.ts";
import { METHODS, routeOf } from "./request-metrics.ts";

const UNTRACED = /^\/(?:livez|readyz|callbacks\/.*)$/;

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
