import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import tls, { type TlsOptions } from "node:tls";
import { Agent } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAuthority } from "../../test/ssrf/certificates.ts";
import type { DnsResolver } from "./dns-resolver.ts";
import { isPublicIp } from "./ip-ranges.ts";
import { createPinnedConnector } from "./pinned-connector.ts";

let asked = 0;
let connections = 0;
let port = 0;
const server = createServer((_, response) => {
  asked += 1;
  response.end("secret");
});
server.on("connection", () => {
  connections += 1;
});
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close().closeAllConnections());
beforeEach(() => {
  asked = 0;
  connections = 0;
});

const toLoopback: DnsResolver = async () => [{ address: "127.0.0.1", family: 4 }];
const onlyLoopback = (address: string) => address === "127.0.0.1";
const guard = (how: { resolve: DnsResolver; isAllowed(address: string): boolean }, connectMs = 5_000) =>
  createPinnedConnector({ ...how, connectMs });
const refused = { code: "url_not_allowed", details: { reason: "address" } };
const ask = async (connect: ReturnType<typeof createPinnedConnector>, host: string) => {
  const agent = new Agent({ connect });
  try {
    const { body } = await agent.request({ origin: `http://${host}:${port}`, path: "/", method: "GET" });
    return await body.text();
  } finally {
    await agent.destroy();
  }
};

test("reaches an allowed address, by name and as a literal", async () => {
  const connect = guard({ resolve: toLoopback, isAllowed: onlyLoopback });
  expect(await ask(connect, "pictures.example.com")).toBe("secret");
  expect(await ask(connect, "127.0.0.1")).toBe("secret");
});

test("does not connect to a literal address that is not allowed", async () => {
  const connect = guard({ resolve: toLoopback, isAllowed: isPublicIp });
  await expect(ask(connect, "127.0.0.1")).rejects.toMatchObject(refused);
  await expect(ask(connect, "[::1]")).rejects.toMatchObject(refused);
  expect(connections).toBe(0);
});

test("does not connect if one of several resolved addresses is not allowed, or there is none", async () => {
  const answers = [
    [],
    [
      { address: "127.0.0.1", family: 4 },
      { address: "10.0.0.1", family: 4 },
    ],
    [
      { address: "::1", family: 6 },
      { address: "127.0.0.1", family: 4 },
    ],
  ];
  for (const each of answers) {
    const connect = guard({ resolve: async () => each, isAllowed: onlyLoopback });
    await expect(ask(connect, "pictures.example.com")).rejects.toMatchObject(refused);
  }
  expect(connections).toBe(0);
});

test("reports a name that cannot be resolved", async () => {
  const resolve = () => Promise.reject(Object.assign(new Error("no address"), { code: "ENOTFOUND" }));
  const connect = guard({ resolve, isAllowed: onlyLoopback });
  await expect(ask(connect, "nowhere.example.com")).rejects.toMatchObject({ code: "ENOTFOUND" });
});

test("sends nothing and disconnects if the connected address is not the resolved one", async () => {
  let looks = 0;
  const fickle = (address: string) => onlyLoopback(address) && looks++ === 0;
  const hungUp = new Promise<void>((done) => server.once("connection", (socket) => socket.once("close", () => done())));
  await expect(ask(guard({ resolve: toLoopback, isAllowed: fickle }), "rebind.example.com")).rejects.toMatchObject(
    refused,
  );
  await hungUp;
  expect(asked).toBe(0);
});

describe("with TLS", () => {
  const authority = createAuthority();
  const usual = tls.getCACertificates("default");
  const serve = (options: TlsOptions) =>
    new Promise<{ port: number; server: tls.Server }>((done) => {
      const secure = tls.createServer({ ...authority.issue("pictures.example.com"), ...options }, (socket) => {
        socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${socket.alpnProtocol}`);
      });
      secure.on("tlsClientError", () => {});
      secure.listen(0, "127.0.0.1", () => done({ port: (secure.address() as AddressInfo).port, server: secure }));
    });
  const connect = guard({ resolve: toLoopback, isAllowed: onlyLoopback });
  const askAt = async (at: number) => {
    const agent = new Agent({ connect });
    const asking = agent.request({ origin: `https://pictures.example.com:${at}`, path: "/", method: "GET" });
    return asking.then(({ body }) => body.text()).finally(() => agent.destroy());
  };
  beforeAll(() => tls.setDefaultCACertificates([authority.cert]));
  afterAll(() => tls.setDefaultCACertificates(usual));

  test("uses HTTP/1.1 although HTTP/2 is offered", async () => {
    const { port: at, server: secure } = await serve({ ALPNProtocols: ["h2", "http/1.1"] });
    expect(await askAt(at)).toBe("http/1.1");
    secure.close();
  });

  test("refuses old TLS versions, although Node.js supports them", async () => {
    const before = tls.DEFAULT_MIN_VERSION;
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const { port: at, server: secure } = await serve(old);
    tls.DEFAULT_MIN_VERSION = "TLSv1";
    await expect(askAt(at)).rejects.toMatchObject({ code: expect.stringMatching(/SSL/) });
    tls.DEFAULT_MIN_VERSION = before;
    secure.close();
  });
});

test("times out if the server does not respond", async () => {
  const never: DnsResolver = () => new Promise(() => {});
  const hasty = guard({ resolve: never, isAllowed: onlyLoopback }, 1_000);
  await expect(ask(hasty, "pictures.example.com")).rejects.toMatchObject({ code: "UND_ERR_CONNECT_TIMEOUT" });
});
