// CORS: only pages of origins that the operator lists may call the API. Cookies are never allowed: a page authenticates
// with a header that it sets itself, so it cannot act with another page's credentials.
import type { MiddlewareHandler } from "hono";
import { z } from "zod";
import type { HttpBindings } from "./read-request.ts";

export const CorsEnv = z.object({
  CORS_ORIGINS: z
    .string()
    .default("")
    .transform(parseOrigins)
    .describe("Web origins that may call the API from a browser, comma-separated; * for all. Default: none"),
});

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
const ALLOWED =
  "Authorization, X-API-Key, Content-Type, Idempotency-Key, Prefer, Accept, Last-Event-ID, " +
  "Mcp-Protocol-Version, Mcp-Method, Mcp-Name";
/** Response headers that a page may read. */
const EXPOSED =
  "Location, X-Run-Id, X-Request-Id, Idempotent-Replayed, Retry-After, Deprecation, Link, RateLimit, RateLimit-Policy, " +
  "WWW-Authenticate";
/** How long browsers cache a preflight response; the maximum that any browser accepts. */
const PREFLIGHT_MAX_AGE_SECONDS = "7200";

export function corsMiddleware(origins: readonly string[]): MiddlewareHandler<HttpBindings> {
  const allowsAll = origins.includes("*");
  return async (context, next) => {
    const origin = context.req.header("origin");
    // The response depends on the Origin header, so shared caches need Vary: Origin.
    if (origins.length > 0 && !allowsAll) context.header("vary", "Origin", { append: true });
    if (!origin || !(allowsAll || origins.includes(origin))) return next();
    context.header("access-control-allow-origin", allowsAll ? "*" : origin);
    if (context.req.method !== "OPTIONS" || !context.req.header("access-control-request-method")) {
      context.header("access-control-expose-headers", EXPOSED);
      return next();
    }
    context.header("access-control-allow-methods", METHODS);
    context.header("access-control-allow-headers", ALLOWED);
    context.header("access-control-max-age", PREFLIGHT_MAX_AGE_SECONDS);
    return context.body(null, 204);
  };
}

function parseOrigins(text: string, context: z.RefinementCtx): string[] {
  const entries = text.split(",").map((each) => each.trim());
  return entries.filter(Boolean).map((each) => {
    if (each === "*") return each;
    const url = URL.parse(each);
    if (url?.protocol === "https:" || url?.protocol === "http:") return url.origin;
    context.addIssue({ code: "custom", message: `${each} is not an origin, such as https://app.example.com` });
    return z.NEVER;
  });
}
