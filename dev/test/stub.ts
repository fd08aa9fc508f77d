// Stub of the sandbox and of the server for tests of starting and stopping: healthy on every path, and it serves one
// image.
import { createServer, type IncomingHttpHeaders } from "node:http";

const flag = process.argv.indexOf("--port");
const port = Number(process.env.PORT ?? process.argv[flag + 1]);
const isAllowed = ({ authorization, "x-api-key": key }: IncomingHttpHeaders) =>
  authorization === `Bearer ${process.env.GESSO_API_KEY}` || key === process.env.GESSO_API_KEY;

createServer((request, response) => {
  if (request.url === "/environment") return response.end(JSON.stringify(process.env));
  if (request.url === "/image.png") return response.end("\x89PNG");
  if (!request.url?.startsWith("/api/")) return response.end("ok");
  if (!isAllowed(request.headers)) return response.writeHead(401).end();
  if (request.url === "/api/v1/me") return response.end(JSON.stringify({ tenant: { id: "1" } }));
  if (request.url === "/api/v1/catalogue") return response.end(JSON.stringify({ models: [] }));
  if (request.url === "/api/v1/tenants/1") return response.end(JSON.stringify({ limits: {} }));
  response.end(JSON.stringify({ id: "1", image_url: `http://127.0.0.1:${port}/image.png`, status: "completed" }));
}).listen(port, "127.0.0.1");
