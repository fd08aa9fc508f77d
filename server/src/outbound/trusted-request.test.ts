import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { trustedFetch } from "./trusted-request.ts";

let url = "";
let requests = 0;
const respond = async (request: IncomingMessage, response: ServerResponse) => {
  requests++;
  if (request.url === "/redirect") return response.writeHead(302, { location: `${url}/echo` }).end();
  if (request.url === "/large") return response.end("x".repeat(1024 * 1024));
  response.writeHead(request.url === "/error" ? 400 : 200, { "content-type": "application/json" });
  return response.end(
    JSON.stringify({ method: request.method, type: request.headers["content-type"], body: await text(request) }),
  );
};
const server = createServer((request, response) => void respond(request, response));
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it("sends a form and returns status, type and body", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ code: "a b" });
  const response = await trustedFetch(`${url}/echo`, { method: "POST", headers, body });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(await response.json()).toEqual({ method: "POST", type: headers["content-type"], body: "code=a+b" });
  expect((await trustedFetch(`${url}/error`, { method: "GET", headers: {} })).status).toBe(400);
});

it("follows no redirect and reads no more than 512 KiB", async () => {
  requests = 0;
  expect((await trustedFetch(`${url}/redirect`, { method: "GET", headers: {} })).status).toBe(302);
  expect(requests).toBe(1);
  await expect(trustedFetch(`${url}/large`, { method: "GET", headers: {} })).rejects.toThrow();
});
