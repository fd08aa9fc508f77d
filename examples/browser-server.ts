// Serves browser-page.html and the built client, and forwards the requests that the page needs to Gesso. It adds the
// API key, so the key never reaches the browser. In production, authenticate the user first.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { normalize } from "node:path";
import { Readable } from "node:stream";

const [port = "8080"] = process.argv.slice(2);
const { GESSO_URL = "http://127.0.0.1:7788", GESSO_API_KEY = "" } = process.env;
const CLIENT = new URL("../sdk/dist/esm/", import.meta.url);
/** Requests that the page can make. All others return 403. */
const ALLOWED = [/^POST \/api\/v1\/runs\/generate$/, /^GET \/api\/v1\/runs\/[\w-]+$/, /^GET \/files\/.+/];

const server = createServer(async (request, response) => {
  const { method = "GET", url = "/" } = request;
  if (url === "/") {
    const page = await readFile(new URL("browser-page.html", import.meta.url));
    return response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
  }
  if (/^\/client\/[\w/-]+\.js$/.test(url)) {
    const code = await readFile(new URL(normalize(url.slice("/client/".length)), CLIENT)).catch(() => undefined);
    return response.writeHead(code ? 200 : 404, { "content-type": "text/javascript" }).end(code);
  }
  const path = url.replace(/^\/gesso/, "");
  if (path === url || !ALLOWED.some((allowed) => allowed.test(`${method} ${path}`)))
    return response.writeHead(403).end();
  const forwardedHeaders = ["content-type", "accept", "prefer", "idempotency-key"];
  const headers = Object.fromEntries(
    forwardedHeaders.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : [])),
  );
  const upstream = await fetch(GESSO_URL + path, {
    method,
    headers: { ...headers, authorization: `Bearer ${GESSO_API_KEY}` },
    ...(method === "POST" && { body: Readable.toWeb(request) as ReadableStream, duplex: "half" }),
  } as RequestInit);
  // File URLs point to Gesso. The page loads them through this proxy, so rewrite their origin.
  const bytes = Buffer.from(await upstream.arrayBuffer());
  const isJson = upstream.headers.get("content-type")?.includes("json");
  const proxyUrl = `http://${request.headers.host}/gesso`;
  const body = isJson ? bytes.toString().replaceAll(GESSO_URL, proxyUrl) : bytes;
  const exposedHeaders = ["content-type", "x-run-id", "x-request-id", "retry-after"];
  const responseHeaders = exposedHeaders.flatMap((name) => {
    const value = upstream.headers.get(name);
    return value ? [[name, value]] : [];
  });
  response.writeHead(upstream.status, Object.fromEntries(responseHeaders)).end(body);
});
server.listen(Number(port), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}`),
);
