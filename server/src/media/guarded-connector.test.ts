import type { lookup } from "node:dns";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { guardedConnector } from "./guarded-connector.ts";

let asked = 0;
let port = 0;
const server = createServer((_, response) => {
  asked += 1;
  response.end("secret");
});
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close().closeAllConnections());
beforeEach(() => {
  asked = 0;
});

const toLoopback = ((_name: string, _options: unknown, done: (failure: null, answers: unknown) => void) =>
  done(null, [{ address: "127.0.0.1", family: 4 }])) as unknown as typeof lookup;
const onlyLoopback = (address: string) => address === "127.0.0.1";
const ask = async (connect: ReturnType<typeof guardedConnector>, host: string) => {
  const agent = new Agent({ connect });
  try {
    const { body } = await agent.request({ origin: `http://${host}:${port}`, path: "/", method: "GET" });
    return await body.text();
  } finally {
    await agent.destroy();
  }
};

test("reaches an allowed address, by name and written out", async () => {
  const connect = guardedConnector(toLoopback, onlyLoopback);
  expect(await ask(connect, "pictures.example.com")).toBe("secret");
  expect(await ask(connect, "127.0.0.1")).toBe("secret");
});

test("sends nothing to an address that is written out and not allowed", async () => {
  await expect(ask(guardedConnector(toLoopback), "127.0.0.1")).rejects.toMatchObject({ code: "url_not_allowed" });
  expect(asked).toBe(0);
});

test("sends nothing when the address reached is not the one that was looked up", async () => {
  let looks = 0;
  const fickle = (address: string) => onlyLoopback(address) && looks++ === 0;
  await expect(ask(guardedConnector(toLoopback, fickle), "rebind.example.com")).rejects.toMatchObject({
    code: "url_not_allowed",
  });
  expect(asked).toBe(0);
});
