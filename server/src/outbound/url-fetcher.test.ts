import { afterAll, describe, expect, test } from "vitest";
import { useExternalServers } from "../../test/ssrf/external-servers.ts";
import type { DnsResolver } from "./dns-resolver.ts";
import { createUrlFetcher } from "./url-fetcher.ts";

const limits = { maxBytes: 100_000, timeoutSeconds: 5 };
const { serve, requestedPaths: asked, connections } = useExternalServers();

const fetcher = createUrlFetcher();
afterAll(() => fetcher.close());

/** Resolves every name to the given addresses, as an attacker's name server may. */
const resolvingTo = (...addresses: string[]) => {
  let asks = 0;
  const resolve: DnsResolver = async () => {
    asks += 1;
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { resolve, asks: () => asks };
};

describe("a URL, before anything is fetched", () => {
  test("is refused if it can never be allowed, without a request", async () => {
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
    expect(connections()).toBe(0);
  });

  test("passes if it is public, or its origin is allowed", async () => {
    const lenient = createUrlFetcher({ trustedOrigins: ["http://127.0.0.1:7790"] });
    expect(() => lenient.checkUrl("http://127.0.0.1:7790/a.png")).not.toThrow();
    expect(() => lenient.checkUrl("https://example.com/a.png")).not.toThrow();
    await lenient.close();
  });
});

describe("an allowed origin", () => {
  test("is fetched, with its bytes and media type", async () => {
    const origin = await serve((_, response) => response.setHeader("content-type", "Image/PNG ; x=y").end("pixels"));
    const { bytes, media_type } = await fetcher.fetchBytes(`${origin}/a?b=c`, { ...limits, trustedOrigins: [origin] });
    expect(Buffer.from(bytes).toString()).toBe("pixels");
    expect(media_type).toBe("image/png");
    expect(asked).toEqual(["/a?b=c"]);
  });

  test("can be allowed for all fetches", async () => {
    const origin = await serve((_, response) => response.end("pixels"));
    const lenient = createUrlFetcher({ trustedOrigins: [`${origin}/`] });
    expect((await lenient.fetchBytes(origin, limits)).media_type).toBe("application/octet-stream");
    await lenient.close();
  });

  test("is allowed for one fetch only, even while its connection is still open", async () => {
    const origin = await serve((_, response) => response.end("pixels"));
    await fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
    await expect(fetcher.fetchBytes(origin, limits)).rejects.toMatchObject({ code: "url_not_allowed" });
    expect(asked).toHaveLength(1);
  });

  test("keeps its connection for the next fetch", async () => {
    const origin = await serve((_, response) => response.end("pixels"));
    for (let round = 0; round < 10; round++) await fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
    expect(connections()).toBeLessThan(4);
  });

  test("receives its additional headers, and no other origin does", async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end("pixels");
    });
    const first = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(302, { location: other }).end();
    });
    const lenient = createUrlFetcher({ trustedOrigins: [other] });
    const headers = { authorization: "Bearer of the provider" };
    await lenient.fetchBytes(first, { ...limits, trustedOrigins: [first], headers });
    expect(seen).toEqual([headers.authorization, undefined]);
    await lenient.close();
  });

  test("is requested with plain bytes, without credentials or a referrer", async () => {
    let headers: Record<string, unknown> = {};
    const origin = await serve((request, response) => {
      headers = request.headers;
      response.end("pixels");
    });
    await fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
    expect(headers).toMatchObject({ accept: "*/*", "accept-encoding": "identity", "user-agent": "Gesso" });
    expect(Object.keys(headers).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
  });
});

describe("url_not_allowed", () => {
  test.each([
    "ftp://example.com/x",
    "not an address",
    "http://user:secret@example.com/",
    "http://example.com:22/",
    "http://2130706433/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:127.0.0.1]/",
    "http://localhost./",
    "http://metadata.google.internal/",
    "http://１２７.０.０.１/",
  ])("%s", async (url) => {
    const { resolve, asks } = resolvingTo("93.184.216.34");
    const strict = createUrlFetcher({ resolve });
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
  ])("a name that resolves to %s", async (_, addresses) => {
    const { resolve, asks } = resolvingTo(...addresses);
    const strict = createUrlFetcher({ resolve });
    const fetched = strict.fetchBytes("http://pictures.example.com:8080/", limits);
    await expect(fetched).rejects.toMatchObject({ code: "url_not_allowed", details: { reason: "address" } });
    expect(asks()).toBe(1);
    await strict.close();
  });

  test("a URL, or a redirect, outside the origins of this fetch", async () => {
    const other = await serve((_, response) => response.end("pixels"));
    const first = await serve((_, response) => response.writeHead(302, { location: other }).end());
    const foreign = { code: "url_not_allowed", details: { reason: "foreign_address" } };
    const lenient = createUrlFetcher({ trustedOrigins: [first, other] });
    await expect(lenient.fetchBytes(other, { ...limits, allowedOrigins: [first] })).rejects.toMatchObject(foreign);
    expect(asked).toHaveLength(0);
    await expect(lenient.fetchBytes(first, { ...limits, allowedOrigins: [first] })).rejects.toMatchObject(foreign);
    expect(asked).toHaveLength(1);
    expect((await lenient.fetchBytes(first, { ...limits, allowedOrigins: [first, other] })).bytes.byteLength).toBe(6);
    await lenient.close();
  });

  test("a redirect from an allowed origin to one that is not", async () => {
    const inner = await serve((_, response) => response.end("secret"));
    const outer = await serve((_, response) => response.writeHead(302, { location: `${inner}/secret` }).end());
    const fetched = fetcher.fetchBytes(`${outer}/start`, { ...limits, trustedOrigins: [outer] });
    await expect(fetched).rejects.toMatchObject({ code: "url_not_allowed" });
    expect(asked).toEqual(["/start"]);
  });

  test.each(["file:///etc/passwd", "http://u:p@example.com/", "http://[::1]/", "//169.254.169.254/", "http://%00/"])(
    "a redirect to %s",
    async (location) => {
      const origin = await serve((_, response) => response.writeHead(307, { location }).end());
      const fetched = fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
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
    const { bytes } = await fetcher.fetchBytes(url, { ...limits, trustedOrigins: [origin] });
    expect(Buffer.from(bytes).toString()).toBe("arrived");
    expect(asked).toEqual(["/3", "/2", "/1", "/0"]);
  });

  test.each([301, 302, 303, 307, 308])("are status %i with a location", async (status) => {
    const origin = await serve((request, response) => {
      if (request.url === "/there") response.end("arrived");
      else response.writeHead(status, { location: "/there" }).end();
    });
    expect((await fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] })).bytes.byteLength).toBe(7);
    const lost = await serve((_, response) => response.writeHead(status).end());
    await expect(fetcher.fetchBytes(lost, { ...limits, trustedOrigins: [lost] })).rejects.toMatchObject({
      details: { reason: "status", status },
    });
  });

  test.each([200, 300, 304, 305])("are not status %i, even with a location", async (status) => {
    const origin = await serve((_, response) => response.writeHead(status, { location: "/there" }).end("here"));
    await fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] }).catch(() => {});
    expect(asked).toEqual(["/"]);
  });

  test("are not followed a fourth time", async () => {
    const { origin, url } = await hops(4);
    const fetched = fetcher.fetchBytes(url, { ...limits, trustedOrigins: [origin] });
    await expect(fetched).rejects.toMatchObject({
      code: "source_fetch_failed",
      details: { reason: "too_many_redirects" },
    });
    expect(asked).toHaveLength(4);
  });
});

test("a closed fetcher fetches nothing", async () => {
  const origin = await serve((_, response) => response.end("pixels"));
  const { resolve } = resolvingTo("127.0.0.1");
  const closed = createUrlFetcher({ resolve, allowRanges: ["127.0.0.1"], ports: [Number(new URL(origin).port)] });
  await closed.close();
  const outer = origin.replace("127.0.0.1", "pictures.example.com");
  for (const url of [origin, outer]) {
    const fetched = closed.fetchBytes(url, { ...limits, ...(url === origin && { trustedOrigins: [origin] }) });
    await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details: { reason: "connection" } });
  }
  expect(asked).toEqual([]);
});
