// Serves visitors-page.html, where each visitor makes images and sees only its own. The page calls Gesso with a token
// that names the visitor; the API key stays here. Gesso must allow the origin of the page: CORS_ORIGINS.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { normalize } from "node:path";

const [port = "8080"] = process.argv.slice(2);
const { GESSO_URL = "http://127.0.0.1:7788", GESSO_API_KEY = "" } = process.env;
const CLIENT = new URL("../sdk/dist/esm/", import.meta.url);

/** Visitors by the secret of their session. In production, this is your own sign-in. */
const visitors = new Map<string, { id: string }>();

/** A token for this visitor: Gesso shows it the runs of its `end_user`, and no others. */
async function createToken(visitor: { id: string }, origin: string): Promise<string> {
  const response = await fetch(`${GESSO_URL}/api/v1/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${GESSO_API_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({
      end_user: visitor.id,
      scopes: ["images:write", "runs:*", "events:read"],
      origin,
      max_spend: 2,
    }),
  });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { access_token: string }).access_token;
}

const server = createServer(async (request, response) => {
  const { url = "/" } = request;
  const secret = /session=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
  const visitor = visitors.get(secret);
  if (url === "/") {
    const page = String(await readFile(new URL("visitors-page.html", import.meta.url)));
    const session = visitor ? secret : randomUUID();
    if (!visitor) visitors.set(session, { id: `visitor-${visitors.size + 1}` });
    const cookie = `session=${session}; HttpOnly; SameSite=Strict; Path=/`;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "set-cookie": cookie });
    return response.end(page.replace("{{GESSO_URL}}", GESSO_URL));
  }
  if (/^\/client\/[\w/-]+\.js$/.test(url)) {
    const code = await readFile(new URL(normalize(url.slice("/client/".length)), CLIENT)).catch(() => undefined);
    return response.writeHead(code ? 200 : 404, { "content-type": "text/javascript" }).end(code);
  }
  if (url !== "/token") return response.writeHead(404).end();
  // Only for the page of a signed-in visitor: the cookie says who it is, never the request.
  if (!visitor || request.method !== "POST") return response.writeHead(401).end();
  const token = await createToken(visitor, `http://${request.headers.host}`);
  response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-store" }).end(token);
});
server.listen(Number(port), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}`),
);
