import type { lookup } from "node:dns";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFetcher } from "./fetch.ts";
import { isPublicAddress } from "./url-policy.ts";

const limits = { maxBytes: 100_000, timeoutSeconds: 5 };
const servers: Server[] = [];
let asked: string[] = [];
let connections = 0;

/** A real server on loopback that notes everything it is asked. */
const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    listener(request, response);
  });
  server.on("connection", () => {
    connections += 1;
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeEach(() => {
  asked = [];
  connections = 0;
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const fetcher = createFetcher();
afterAll(() => fetcher.close());

/** Resolves every name to the given addresses, as an attacker's name server may. */
const resolvingTo = (...addresses: string[]) => {
  let asks = 0;
  const fake = ((_name: string, _options: unknown, done: (failure: null, answers: unknown) => void) => {
    asks += 1;
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  }) as unknown as typeof lookup;
  return { lookup: fake, asks: () => asks };
};

describe("an address, before anything is fetched", () => {
  test("is refused where it could never be fetched, and nothing is asked", async () => {
    const origin = await serve((_, response) => response.end("pixels"));
    for (const url of [
      origin,
      "http://localhost/a.png",
      "http://[::1]/",
      "ftp://example.com/a.png",
      "http://10.0.0.8/",
    ]) {
      expect(() => fetcher.checkUrl(url)).toThrow(expect.objectContaining({ code: "url_not_allowed" }));
    }
    expect(connections).toBe(0);
  });

  test("is let pass where it is public, or its origin is allowed", async () => {
    const lenient = createFetcher({ allowOrigins: ["http://127.0.0.1:7790"] });
    expect(() => lenient.checkUrl("http://127.0.0.1:7790/a.png")).not.toThrow();
    expect(() => lenient.checkUrl("https://example.com/a.png")).not.toThrow();
    await lenient.close();
  });
});

describe("an allowed origin", () => {
  test("is fetched, with its bytes and media type", async () => {
    const origin = await serve((_, response) => response.setHeader("content-type", "Image/PNG; x=y").end("pixels"));
    const { bytes, media_type } = await fetcher.fetchBytes(`${origin}/a?b=c`, { ...limits, allowOrigins: [origin] });
    expect(Buffer.from(bytes).toString()).toBe("pixels");
    expect(media_type).toBe("image/png");
    expect(asked).toEqual(["/a?b=c"]);
  });

  test("may be allowed once for all fetches", async () => {
    const origin = await serve((_, response) => response.end("pixels"));
    const lenient = createFetcher({ allowOrigins: [`${origin}/`] });
    expect((await lenient.fetchBytes(origin, limits)).media_type).toBe("application/octet-stream");
    await lenient.close();
  });

  test("is allowed for one fetch only, even while its connection is still open", async () => {
    const origin = await serve((_, response) => response.end("pixels"));
    await fetcher.fetchBytes(origin, { ...limits, allowOrigins: [origin] });
    await expect(fetcher.fetchBytes(origin, limits)).rejects.toMatchObject({ code: "url_not_allowed" });
    expect(asked).toHaveLength(1);
  });

  test("keeps its connection for the next fetch", async () => {
    const origin = await serve((_, response) => response.end("pixels"));
    for (let round = 0; round < 10; round++) await fetcher.fetchBytes(origin, { ...limits, allowOrigins: [origin] });
    expect(connections).toBeLessThan(4);
  });

  test("is asked for plain bytes, without credentials or a referrer", async () => {
    let headers: Record<string, unknown> = {};
    const origin = await serve((request, response) => {
      headers = request.headers;
      response.end();
    });
    await fetcher.fetchBytes(origin, { ...limits, allowOrigins: [origin] });
    expect(headers).toMatchObject({ "accept-encoding": "identity" });
    expect(Object.keys(headers).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
  });
});

describe("url_not_allowed", () => {
  test.each([
    "ftp://example.com/x",
    "file:///etc/passwd",
    "data:image/png;base64,AAAA",
    "gopher://example.com/",
    "//example.com/x",
    "not an address",
    "",
    "http://",
    "http://user@example.com/",
    "http://user:secret@example.com/",
    "http://example.com:22/",
    "http://example.com:6379/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.0.1:8080/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[::7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001::1]/",
    "http://[2001:db8::1]/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[4000::1]/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST:8080/",
    "http://a.localhost/",
    "http://printer/",
    "http://metadata.google.internal/",
    "http://nas.local./",
    "http://router.home.arpa/",
    "http://１２７.０.０.１/",
  ])("%s", async (url) => {
    const { lookup, asks } = resolvingTo("93.184.216.34");
    const strict = createFetcher({ lookup });
    await expect(strict.fetchBytes(url, limits)).rejects.toMatchObject({ code: "url_not_allowed", status: 422 });
    expect(asks()).toBe(0);
    await strict.close();
  });

  test.each([
    ["loopback", ["127.0.0.1"]],
    ["loopback of IPv6", ["::1"]],
    ["a mapped address", ["::ffff:127.0.0.1"]],
    ["one inner address among public ones", ["93.184.216.34", "10.0.0.1"]],
    ["the metadata of a cloud", ["169.254.169.254"]],
  ])("a name that leads to %s", async (_, addresses) => {
    const { lookup, asks } = resolvingTo(...addresses);
    const strict = createFetcher({ lookup });
    const fetched = strict.fetchBytes("http://pictures.example.com:8080/", limits);
    await expect(fetched).rejects.toMatchObject({ code: "url_not_allowed", details: { reason: "address" } });
    expect(asks()).toBe(1);
    await strict.close();
  });

  test("a redirect from an allowed origin to one that is not", async () => {
    const inner = await serve((_, response) => response.end("secret"));
    const outer = await serve((_, response) => response.writeHead(302, { location: `${inner}/secret` }).end());
    const fetched = fetcher.fetchBytes(`${outer}/start`, { ...limits, allowOrigins: [outer] });
    await expect(fetched).rejects.toMatchObject({ code: "url_not_allowed" });
    expect(asked).toEqual(["/start"]);
  });

  test.each(["file:///etc/passwd", "http://u:p@example.com/", "http://[::1]/", "//169.254.169.254/", "http://%00/"])(
    "a redirect to %s",
    async (location) => {
      const origin = await serve((_, response) => response.writeHead(307, { location }).end());
      const fetched = fetcher.fetchBytes(origin, { ...limits, allowOrigins: [origin] });
      await expect(fetched).rejects.toMatchObject({ code: "url_not_allowed" });
    },
  );
});

describe("redirects", () => {
  const hops = (count: number) =>
    serve((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end("arrived");
      else response.writeHead(302, { location: `/${left - 1}` }).end("moved");
    }).then((origin) => ({ origin, url: `${origin}/${count}` }));

  test("are followed three times", async () => {
    const { origin, url } = await hops(3);
    const { bytes } = await fetcher.fetchBytes(url, { ...limits, allowOrigins: [origin] });
    expect(Buffer.from(bytes).toString()).toBe("arrived");
    expect(asked).toEqual(["/3", "/2", "/1", "/0"]);
  });

  test("are not followed a fourth time", async () => {
    const { origin, url } = await hops(4);
    const fetched = fetcher.fetchBytes(url, { ...limits, allowOrigins: [origin] });
    await expect(fetched).rejects.toMatchObject({
      code: "source_fetch_failed",
      details: { reason: "too_many_redirects" },
    });
    expect(asked).toHaveLength(4);
  });
});

describe("source_too_large", () => {
  const refusal = { code: "source_too_large", details: { max_bytes: 100_000 } };

  test("by what the answer declares, before its body is read", async () => {
    const origin = await serve((_, response) => response.writeHead(200, { "content-length": "100001" }).flushHeaders());
    await expect(fetcher.fetchBytes(origin, { ...limits, allowOrigins: [origin] })).rejects.toMatchObject(refusal);
  });

  test("by what really comes, cut soon after the limit", async () => {
    let sent = 0;
    const origin = await serve((_, response) => {
      const more = () => {
        while (!response.destroyed && sent < 50_000_000 && response.write(Buffer.alloc(16_384))) sent += 16_384;
      };
      response.on("drain", more);
      more();
    });
    await expect(fetcher.fetchBytes(origin, { ...limits, allowOrigins: [origin] })).rejects.toMatchObject(refusal);
    expect(sent).toBeLessThan(25_000_000);
  });

  test("but not exactly at the limit", async () => {
    const origin = await serve((_, response) => response.end(Buffer.alloc(100_000)));
    expect((await fetcher.fetchBytes(origin, { ...limits, allowOrigins: [origin] })).bytes.byteLength).toBe(100_000);
  });
});

describe("source_fetch_failed", () => {
  const fails = async (origin: string, details: object, timeoutSeconds = 5) => {
    const fetched = fetcher.fetchBytes(origin, { ...limits, timeoutSeconds, allowOrigins: [origin] });
    await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details });
  };

  test.each([204, 206, 304, 404, 500])("when the answer is %i", async (status) => {
    await fails(await serve((_, response) => response.writeHead(status).end()), { reason: "status", status });
  });

  test("when the answer is packed although we asked for plain bytes", async () => {
    const packed = gzipSync(Buffer.alloc(1_000));
    const origin = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(packed));
    await fails(origin, { reason: "encoding" });
  });

  test("when no answer comes in time", async () => {
    await fails(await serve(() => undefined), { reason: "timeout" }, 0.2);
  });

  test("when the body does not end in time, however steadily it drips", async () => {
    const origin = await serve((_, response) => {
      const drip = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(drip));
    });
    await fails(origin, { reason: "timeout" }, 0.3);
  });

  test("when the connection breaks before the promised end", async () => {
    const origin = await serve((_, response) => {
      response.writeHead(200, { "content-length": "1000" }).write("half");
      setTimeout(() => response.destroy(), 20);
    });
    await fails(origin, { reason: "connection" });
  });

  test("when nobody listens", async () => {
    const origin = await serve(() => undefined);
    const server = servers.pop();
    await new Promise((done) => server?.close(done));
    await fails(origin, { reason: "connection" });
  });

  test("when the other side does not speak HTTP", async () => {
    const strange = createSocketServer((socket: Socket) => socket.on("error", () => undefined).end("220 mail\r\n"));
    await new Promise<void>((done) => strange.listen(0, "127.0.0.1", done));
    await fails(`http://127.0.0.1:${(strange.address() as AddressInfo).port}`, { reason: "connection" });
    strange.close();
  });

  test("when the name does not exist", async () => {
    const missing = ((_name: string, _options: unknown, done: (failure: Error) => void) =>
      done(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }))) as unknown as typeof lookup;
    const lost = createFetcher({ lookup: missing });
    const fetched = lost.fetchBytes("http://nowhere.example.com/", limits);
    await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details: { reason: "name" } });
    await lost.close();
  });
});

test("public addresses are public", () => {
  for (const address of ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::1"]) {
    expect(isPublicAddress(address)).toBe(true);
  }
  for (const address of ["", "localhost", "8.8.8", "::ffff:8.8.8.8"]) expect(isPublicAddress(address)).toBe(false);
});
