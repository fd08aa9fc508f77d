// Responses share a buffer while they are joined, so each must still be its own text.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createProviderHttpClient } from "./provider-http-client.ts";

/** From a few bytes to more than the shared buffer may hold, with characters of several bytes. */
const LENGTHS = [0, 1, 70_000, 300_000, 1_500_000, 6_000_000];
const textOf = (index: number) => `${index}é€`.repeat(Math.ceil(LENGTHS[index]! / 3)).slice(0, LENGTHS[index]);

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    const bytes = Buffer.from(request.url === "/marked" ? "\uFEFF{}" : textOf(Number(request.url!.slice(1))));
    // In pieces that split characters, so that responses arrive between each other.
    for (let start = 0; start < bytes.length; start += 10_001) response.write(bytes.subarray(start, start + 10_001));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.close());

it("a byte order mark is not part of the text", async () => {
  const client = createProviderHttpClient();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/marked`;
  expect((await client.send(url, { method: "GET", headers: {}, timeoutSeconds: 5 })).text).toBe("{}");
  await client.close();
});

it("responses that arrive at the same time are read whole, each as its own text", async () => {
  const client = createProviderHttpClient();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const indexes = Array.from({ length: 5 }, () => [...LENGTHS.keys()]).flat();
  const options = { method: "GET", headers: {}, timeoutSeconds: 30 };
  const texts = await Promise.all(indexes.map(async (index) => (await client.send(`${url}/${index}`, options)).text));
  expect(texts.map((text, at) => text === textOf(indexes[at]!))).toEqual(indexes.map(() => true));
  await client.close();
});
