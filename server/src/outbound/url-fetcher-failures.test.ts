import type { RequestListener } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import tls from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createAuthority } from "../../test/ssrf/certificates.ts";
import { useExternalServers } from "../../test/ssrf/external-servers.ts";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { until } from "../../test/support/until.ts";
import type { DnsResolver } from "./dns-resolver.ts";
import { createUrlFetcher } from "./url-fetcher.ts";

const limits = { maxBytes: 100_000, timeoutSeconds: 5 };
const { serve, stopLast: leave, requestedPaths: asked } = useExternalServers();

const clock = createManualClock();
const fetcher = createUrlFetcher({ clock });
afterAll(() => fetcher.close());

describe("source_fetch_failed", () => {
  const fails = async (origin: string, details: object) => {
    const fetched = fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
    await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details });
    expect(clock.timers()).toEqual([]);
  };
  /** The time of the fetch passes when `isDue` says so, and it fails exactly then. */
  const timesOut = async (origin: string, isDue: () => boolean) => {
    let failedAt: number | undefined;
    const failed = fails(origin, { reason: "timeout" }).finally(() => {
      failedAt = clock.at;
    });
    await until(isDue);
    const end = clock.at + limits.timeoutSeconds * 1000;
    await clock.advance(limits.timeoutSeconds * 1000 - 1);
    expect(failedAt).toBeUndefined();
    await clock.advance(1);
    await failed;
    expect(failedAt).toBe(end);
  };

  test("if no response comes in time", async () => {
    await timesOut(await serve(() => undefined), () => asked.length === 1);
  });

  test("if the body does not end in time, even if it arrives steadily", async () => {
    let drops = 0;
    const origin = await serve((_, response) => {
      // Fast enough for the minimum rate of downloads.
      response.write(Buffer.alloc(90_000));
      const drip = setInterval(() => drops++ < 20 && response.write("."), 5);
      response.on("close", () => clearInterval(drip));
    });
    await timesOut(origin, () => drops > 3);
  });

  test.each([
    ["the name is still being looked up", () => new Promise<never>(() => {})],
    ["nobody accepts the connection", async () => [{ address: "240.0.0.1", family: 4 }]],
  ])("in time, although %s", async (_, resolve) => {
    let isLookedUp = false;
    const lookUp: DnsResolver = () => {
      isLookedUp = true;
      return resolve();
    };
    const wait = { connectMs: 600_000, silenceMs: 600_000 };
    const stuck = createUrlFetcher({ resolve: lookUp, allowRanges: ["240.0.0.0/4"], clock, wait });
    const fetched = stuck.fetchBytes("http://pictures.example.com/", limits);
    fetched.catch(() => {});
    await until(() => isLookedUp);
    await clock.advance(limits.timeoutSeconds * 1000);
    await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details: { reason: "timeout" } });
  });

  test("if a redirect does not end, even a small one", async () => {
    let drops = 0;
    const origin = await serve((_, response) => {
      response.writeHead(302, { location: "/next" });
      const drip = setInterval(() => drops++ < 20 && response.write("."), 5);
      response.on("close", () => clearInterval(drip));
    });
    await timesOut(origin, () => drops > 3);
    expect(asked).toHaveLength(1);
  });

  test.each(["before it answers", "in the middle of its answer"])("if the server stops sending %s", async (when) => {
    // The clock stands still, so that only the limit on silence can end the fetch.
    const hasty = createUrlFetcher({ wait: { connectMs: 60_000, silenceMs: 500 }, clock });
    const origin = await serve((_, response) => {
      if (when !== "before it answers") response.write("half");
    });
    const fetched = hasty.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
    await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details: { reason: "timeout" } });
    await hasty.close();
  });

  test("if the connection breaks before the declared length", async () => {
    const origin = await serve((_, response) => {
      response.writeHead(200, { "content-length": "1000" }).write("half");
      setTimeout(() => response.destroy(), 20);
    });
    await fails(origin, { reason: "connection" });
  });

  test("if the connection is refused", async () => {
    const origin = await serve(() => undefined);
    await leave();
    await fails(origin, { reason: "connection" });
  });

  test("if the server does not speak HTTP", async () => {
    const strange = createSocketServer((socket: Socket) => socket.on("error", () => undefined).end("220 mail\r\n"));
    await new Promise<void>((done) => strange.listen(0, "127.0.0.1", done));
    await fails(`http://127.0.0.1:${(strange.address() as AddressInfo).port}`, { reason: "connection" });
    strange.close();
  });

  test("is thrown if the caller aborts before or during the response", async () => {
    const silent = await serve(() => undefined);
    const half = await serve((_, response) => void response.write("half"));
    const leaving = new AbortController();
    const options = { ...limits, trustedOrigins: [silent, half], signal: leaving.signal };
    // The timeout also applies while the response is pending.
    const late = fetcher.open(silent, options);
    late.catch(() => {});
    await until(() => asked.length === 1);
    await clock.advance(limits.timeoutSeconds * 1000);
    await expect(late).rejects.toMatchObject({ details: { reason: "timeout" } });
    // From here on the clock stands still: nothing but the caller ends the fetches.
    const abortedAt = clock.at;
    const begun = await fetcher.open(half, options);
    const body = (async () => {
      for await (const _chunk of begun.bytes) leaving.abort();
    })();
    await expect(fetcher.open(silent, options)).rejects.toMatchObject({ code: "source_fetch_failed" });
    await expect(body).rejects.toMatchObject({ code: "source_fetch_failed" });
    expect([clock.at, clock.timers()]).toEqual([abortedAt, []]);
  });

  test("is reported once: a refused fetch has no second failure after its timeout", async () => {
    const lost: unknown[] = [];
    const note = (reason: unknown) => void lost.push(reason);
    process.on("unhandledRejection", note);
    const refused = fetcher.fetchBytes("http://10.0.0.1/", limits);
    await expect(refused).rejects.toMatchObject({ code: "url_not_allowed" });
    await clock.advance(limits.timeoutSeconds * 1000);
    await turnOfEventLoop();
    process.off("unhandledRejection", note);
    expect(lost).toEqual([]);
  });

  test("if the name does not exist", async () => {
    const lost = createUrlFetcher({
      resolve: () => Promise.reject(Object.assign(new Error("no address"), { code: "ENOTFOUND" })),
    });
    const fetched = lost.fetchBytes("http://nowhere.example.com/", limits);
    await expect(fetched).rejects.toMatchObject({
      ...{ code: "source_fetch_failed", details: { reason: "name" } },
      cause: { code: "ENOTFOUND" },
    });
    await lost.close();
  });
});

describe("with TLS", () => {
  const authority = createAuthority();
  const usual = tls.getCACertificates("default");
  const servers: SecureServer[] = [];
  const resolve: DnsResolver = async () => [{ address: "127.0.0.1", family: 4 }];
  beforeAll(() => tls.setDefaultCACertificates([authority.cert]));
  afterAll(() => tls.setDefaultCACertificates(usual));
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });
  const serveSecurely = async (host: string, listener: RequestListener): Promise<URL> => {
    const server = createSecureServer({ ...authority.issue(host), ALPNProtocols: ["h2", "http/1.1"] }, listener);
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return new URL(`https://${host}:${(server.address() as AddressInfo).port}`);
  };
  const open = (...urls: URL[]) =>
    createUrlFetcher({ resolve, allowRanges: ["127.0.0.1"], ports: urls.map(({ port }) => Number(port)) });

  test("a redirect stays on TLS, or is not followed", async () => {
    const there = await serveSecurely("b.example.com", (_, response) => response.end("arrived"));
    const here = await serveSecurely("a.example.com", (request, response) => {
      const location = request.url === "/up" ? there.href : there.href.replace("https:", "http:");
      response.writeHead(302, { location }).end();
    });
    const outside = open(here, there);
    expect((await outside.fetchBytes(`${here.origin}/up`, limits)).bytes.byteLength).toBe(7);
    await expect(outside.fetchBytes(`${here.origin}/down`, limits)).rejects.toMatchObject({
      ...{ code: "url_not_allowed", details: { reason: "downgrade" } },
    });
    await outside.close();
  });

  test("a certificate for another name is a distinct failure", async () => {
    const url = await serveSecurely("a.example.com", (_, response) => response.end("pixels"));
    const outside = open(url);
    await expect(outside.fetchBytes(url.href.replace("a.example", "b.example"), limits)).rejects.toMatchObject({
      ...{ code: "source_fetch_failed", details: { reason: "tls" } },
    });
    await outside.close();
  });

  test("an allowed origin is verified like any other", async () => {
    let version = "";
    const url = await serveSecurely("localhost", (request, response) => {
      version = request.httpVersion;
      response.end("pixels");
    });
    await fetcher.fetchBytes(url.href, { ...limits, trustedOrigins: [url.origin] });
    expect(version).toBe("1.1");
  });
});
