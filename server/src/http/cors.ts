// Pages of other origins may call the API where the operator names them, and only then. A credential is always a header
// that the page itself sets: cookies are never allowed, so a page can do nothing that its own token does not.
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
const ALLOWED = "Authorization, X-API-Key, Content-Type, Idempotency-Key, Prefer, Accept, Last-Event-ID";
/** What an answer says beside its body; without this list a page would not be shown it. */
const EXPOSED =
  "Location, X-Run-Id, X-Request-Id, Idempotent-Replayed, Retry-After, Deprecation, Link, RateLimit, RateLimit-Policy";
/** How long a browser remembers what may be asked; none keeps it longer than this. */
const PREFLIGHT_MAX_AGE_SECONDS = "7200";

export function corsMiddleware(origins: readonly string[]): MiddlewareHandler<HttpBindings> {
  const isOpen = origins.includes("*");
  return async (context, next) => {
    const origin = context.req.header("origin");
    // The response depends on the Origin header, so shared caches need Vary: Origin.
    if (origins.length > 0 && !isOpen) context.header("vary", "Origin", { append: true });
    if (!origin || !(isOpen || origins.includes(origin))) return next();
    context.header("access-control-allow-origin", isOpen ? "*" : origin);
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
  const given = text.split(",").map((each) => each.trim());
  return given.filter(Boolean).map((each) => {
    if (each === "*") return each;
    const url = URL.parse(each);
    if (url?.protocol === "https:" || url?.protocol === "http:") return url.origin;
    context.addIssue({ code: "custom", message: `${each} is no origin: https://app.example.com, for instance` });
    return z.NEVER;
  });
}
