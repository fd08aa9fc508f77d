// Serves the page and the built client, and passes on only what the page may do, with the key that the page never sees.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { normalize } from "node:path";
import { Readable } from "node:stream";

const [port = "8080"] = process.argv.slice(2);
const { GESSO_URL = "http://127.0.0.1:7788", GESSO_API_KEY = "" } = process.env;
const CLIENT = new URL("../sdk/dist/esm/", import.meta.url);
/** Everything else is refused. */
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
  const kept = ["content-type", "accept", "prefer", "idempotency-key"];
  const headers = Object.fromEntries(
    kept.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : [])),
  );
  const answer = await fetch(GESSO_URL + path, {
    method,
    headers: { ...headers, authorization: `Bearer ${GESSO_API_KEY}` },
    ...(method === "POST" && { body: Readable.toWeb(request) as ReadableStream, duplex: "half" }),
  } as RequestInit);
  // Files lie at an address of Gesso's own; in the page they are below ours.
  const text = Buffer.from(await answer.arrayBuffer());
  const isJson = answer.headers.get("content-type")?.includes("json");
  const here = `http://${request.headers.host}/gesso`;
  const body = isJson ? text.toString().replaceAll(GESSO_URL, here) : text;
  const shown = ["content-type", "x-run-id", "x-request-id", "retry-after"];
  const own = shown.flatMap((name) => (answer.headers.get(name) ? [[name, answer.headers.get(name)!]] : []));
  response.writeHead(answer.status, Object.fromEntries(own)).end(body);
});
server.listen(Number(port), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}`),
);
