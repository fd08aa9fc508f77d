import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createConsoleLink } from "./console-link.ts";

const requests: (string | undefined)[][] = [];
const server = createServer(({ method, url, headers }, response) => {
  requests.push([method, url, headers.authorization]);
  const isOff = headers.authorization === "Bearer off";
  response.statusCode = isOff ? 404 : 201;
  response.end(JSON.stringify(isOff ? { code: "route_not_found" } : { url: "http://127.0.0.1:1/console#in=x" }));
});
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

it("asks the server for a link with the API key, which is not in the link", async () => {
  expect(await createConsoleLink({ url, key: "gsk_x" })).toBe("http://127.0.0.1:1/console#in=x");
  expect(requests).toEqual([["POST", "/console/codes", "Bearer gsk_x"]]);
});

it("is undefined without a console, or if the server does not respond", async () => {
  expect(await createConsoleLink({ url, key: "off" })).toBeUndefined();
  expect(await createConsoleLink({ url: "http://127.0.0.1:1", key: "gsk_x" })).toBeUndefined();
});
