import { afterAll, beforeAll, expect, test } from "vitest";
import { type DnsServer, startDnsServer } from "../../test/ssrf/dns-server.ts";
import { createDnsResolver, type DnsResolver } from "./dns-resolver.ts";

let server: DnsServer;
let resolve: DnsResolver;
beforeAll(async () => {
  server = await startDnsServer({
    "both.example": { addresses: ["192.0.2.1", "192.0.2.2", "2001:db8::1"] },
    "four.example": { addresses: ["192.0.2.1"] },
    "six.example": { addresses: ["2001:db8::1"] },
    "alias.example": { alias: "four.example", addresses: ["192.0.2.1"] },
    "empty.example": {},
    "broken.example": { failure: "server failed" },
    "half.example": (_, family) => ({ failure: "no such name", delayMs: family === 4 ? 20_000 : 0 }),
    "slow.example": { addresses: ["192.0.2.1"], delayMs: 20_000 },
  });
  resolve = createDnsResolver([server.server]);
});
afterAll(() => server.close());

const four = (address: string) => ({ address, family: 4 });
const six = (address: string) => ({ address, family: 6 });

test("all addresses of a name are returned, IPv4 and IPv6, also through aliases", async () => {
  expect(await resolve("both.example")).toEqual([four("192.0.2.1"), four("192.0.2.2"), six("2001:db8::1")]);
  expect(await resolve("four.example")).toEqual([four("192.0.2.1")]);
  expect(await resolve("six.example")).toEqual([six("2001:db8::1")]);
  expect(await resolve("alias.example")).toEqual([four("192.0.2.1")]);
});

test.each(["empty.example", "broken.example", "unknown.example"])("%s is not a name", async (name) => {
  await expect(resolve(name)).rejects.toMatchObject({
    ...{ code: "ENOTFOUND", message: `No IP address found for ${name}.` },
    cause: [expect.any(Error), expect.any(Error)],
  });
});

test.concurrent.each(["slow.example", "half.example"])(
  "a name server that does not respond times out: %s",
  async (name) => {
    const beginning = performance.now();
    await expect(resolve(name)).rejects.toMatchObject({ code: "ETIMEDOUT" });
    expect(performance.now() - beginning).toBeLessThan(4_500);
  },
);

test("the hosts file of this machine is not used", async () => {
  await expect(resolve("localhost")).rejects.toMatchObject({ code: "ENOTFOUND" });
  expect(server.queryCount("localhost")).toBe(1);
});
