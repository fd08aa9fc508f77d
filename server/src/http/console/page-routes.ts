// Serves the files of the console below `/console`. Files with a hash in their name are cached forever, the page
// itself never; a path that names no file is a page of the console. Without a built console, a plain page says how to
// build it.
import { type Context, Hono } from "hono";
import { Fault } from "../../faults/faults.ts";
import { respondWithPage } from "../pages/html-page.ts";
import { type CachedFile, createFileCache } from "./file-cache.ts";

/** Vite writes `assets/<name>-<hash>.<extension>`, with a hash of eight characters. */
const HASH = /-[A-Za-z0-9_-]{8}\.[a-z0-9]+$/;
const INDEX = "index.html";
/** Paths that are not pages. */
const RESERVED = /^(?:api|session|sessions|codes)(?:\/|$)/;

export function consolePageRoutes(folder: string, publicUrl: string): Hono {
  const app = new Hono();
  const files = createFileCache(folder);
  const headers = consoleHeaders(publicUrl);

  const servePage = async (context: Context): Promise<Response> => {
    const path = new URL(context.req.url).pathname.replace(/^\/console\/?/, "");
    if (RESERVED.test(path)) throw new Fault("route_not_found");
    const file = path === "" ? undefined : await files.read(path);
    if (file) return respondWithFile(context, file, cacheControl(path));
    // A script of an older version that is gone: the page would be refused as a script.
    if (path.startsWith("assets/")) throw new Fault("route_not_found");
    const index = await files.read(INDEX);
    return index ? respondWithFile(context, index, cacheControl(INDEX)) : respondWithoutConsole(context);
  };
  const respondWithFile = (context: Context, file: CachedFile, caching: string): Response => {
    const isCompressed = file.compressed !== undefined && acceptsGzip(context);
    const etag = `"${file.etag}${isCompressed ? "-gzip" : ""}"`;
    const own = {
      ...headers,
      ...{ "content-type": file.mediaType, "cache-control": caching, etag, vary: "Accept-Encoding" },
    };
    if (context.req.header("if-none-match") === etag) return context.body(null, 304, own);
    const bytes = isCompressed ? file.compressed! : file.bytes;
    const sent = {
      ...own,
      ...(isCompressed && { "content-encoding": "gzip" }),
      "content-length": String(bytes.length),
    };
    return context.req.method === "HEAD" ? context.body(null, 200, sent) : context.body(bytes, 200, sent);
  };
  app.on(["GET", "HEAD"], ["/console", "/console/*"], servePage);
  return app;
}

const cacheControl = (path: string): string => {
  if (path === INDEX) return "no-store";
  return path.startsWith("assets/") && HASH.test(path) ? "public, max-age=31536000, immutable" : "no-cache";
};

const acceptsGzip = (context: Context) =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(context.req.header("accept-encoding") ?? "");

function respondWithoutConsole(context: Context): Response {
  const body =
    "<h1>The console is not built</h1>" +
    "<p>This server is running, but it has no files of the console. Build them in the repository, then reload:</p>" +
    "<pre><code>npm run -w console build</code></pre>" +
    "<p>To remove the console, set <code>CONSOLE=off</code>.</p>";
  const response = respondWithPage(context, "The console is not built", body);
  response.headers.set("cache-control", "no-store");
  return response;
}

/**
 * The security headers of the console's pages and files, as one fixed text. Nothing is loaded from another origin but
 * images and videos from PUBLIC_URL, no script or style is inline, no script can insert HTML, and no page can frame
 * the console.
 */
function consoleHeaders(publicUrl: string): Record<string, string> {
  const { origin } = new URL(publicUrl);
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `img-src 'self' blob: data: ${origin}`,
      `media-src 'self' blob: ${origin}`,
      "connect-src 'self'",
      "font-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  };
}
