// Serves a start page at `/` to browsers: what this server is, and a first request to copy. API clients get the usual
// 404, so that a wrong base URL is reported as one.
import { Hono } from "hono";
import { escapeHtml, prefersHtml, respondWithPage } from "./html-page.ts";

const renderStartPage = (publicUrl: string, hasConsole: boolean): string => {
  const request = [
    `curl -sS ${publicUrl}/api/v1/runs/generate \\`,
    `  -H "Authorization: Bearer $GESSO_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"prompt": "a red bicycle by the sea", "sync": true}'`,
  ].join("\n");
  return [
    `<h1>Gesso</h1><p>This server makes and edits images and videos. It is running.</p>`,
    `<h2>First image</h2><pre><code>${escapeHtml(request)}</code></pre>`,
    `<h2>Reference</h2><table>`,
    hasConsole
      ? `<tr><th scope="row"><a href="/console">/console</a></th><td>The console, to use in a browser</td></tr>`
      : "",
    `<tr><th scope="row"><a href="/openapi.json">/openapi.json</a></th><td>The API, as an OpenAPI document</td></tr>`,
    `<tr><th scope="row"><a href="/errors">/errors</a></th><td>Every error code: when it happens and what to do</td></tr>`,
    `<tr><th scope="row"><a href="/readyz">/readyz</a></th><td>Whether the server can take requests</td></tr>`,
    `</table>`,
  ].join("");
};

export function startPageRoutes(publicUrl: string, hasConsole: boolean): Hono {
  const app = new Hono();
  app.get("/", (context, next) => {
    context.header("vary", "Accept", { append: true });
    if (!prefersHtml(context)) return next();
    return respondWithPage(context, "Gesso", renderStartPage(publicUrl, hasConsole));
  });
  return app;
}
