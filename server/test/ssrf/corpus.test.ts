// The corpus of attacks against the real fetcher, in this process and in its own process: real names, real sockets, and
// every attempted connection counted below all of the code under test.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDnsResolver } from "../../src/outbound/dns-resolver.ts";
import { createFetcherClient } from "../../src/outbound/fetcher-client.ts";
import { createUrlFetcher, type UrlFetcher } from "../../src/outbound/url-fetcher.ts";
import { ATTACK_HOST, type AttackServers, IMAGE_BYTES, PUBLIC_TEST_IP } from "./attack-servers.ts";
import { type ConnectionLog, connectionLogEnv, readConnectionLog, recordConnections } from "./connection-log.ts";
import { casesOfStage, corpus, type SsrfCase, urlOfCase } from "./corpus.ts";
import type { DnsServer } from "./dns-server.ts";
import { FETCHER_TEST_TOKEN, type FetcherProcess, startFetcherOrThrow } from "./fetcher-process.ts";
import { expectedEndpoint, startTestInternet, type TestInternet } from "./run-corpus.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-ssrf-"));
const here = recordConnections();
const limits = { maxBytes: 100_000, timeoutSeconds: 30 };
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
/** Use of a proxy would show as a connection to this machine. */
const proxies = Object.fromEntries([
  ...PROXIES.map((name) => [name, "http://127.0.0.1:9"]),
  ["NODE_USE_ENV_PROXY", "1"],
]);

let net: TestInternet;
let front: AttackServers;
let nameServer: DnsServer;

beforeAll(async () => {
  Object.assign(process.env, proxies);
  net = await startTestInternet();
  ({ front, nameServer } = net);
  tls.setDefaultCACertificates([front.authority.cert]);
});
afterAll(async () => {
  await net.close();
  rmSync(folder, { recursive: true });
});

type Subject = { fetcher: UrlFetcher; attempts: ConnectionLog; stop(): Promise<void> };

function inThisProcess(): Subject {
  const fetcher = createUrlFetcher({ ...net.policy, resolve: createDnsResolver([nameServer.server]) });
  // Our own line to the fetcher's process is no attempt of the fetcher.
  return { fetcher, attempts: here, stop: () => fetcher.close() };
}

async function inItsOwnProcess(): Promise<Subject> {
  const file = join(folder, "attempts");
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, front.authority.cert);
  const started: FetcherProcess = await startFetcherOrThrow({
    ...proxies,
    ...connectionLogEnv(file),
    NODE_EXTRA_CA_CERTS: authority,
    ...net.settings,
  });
  const fetcher = createFetcherClient({ url: started.url, token: FETCHER_TEST_TOKEN, checkUrl: () => {} });
  return { fetcher, attempts: readConnectionLog(file), stop: started.stop };
}

describe.each([
  ["in this process", inThisProcess],
  ["in a process of its own", inItsOwnProcess],
])("the fetcher %s", (_where, start) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await start();
  });
  afterAll(() => subject.stop());
  beforeEach(() => void subject.attempts.drain());

  const tried = () => [...new Set(subject.attempts.drain().map(({ address }) => address))];
  const outcome = (url: string): Promise<{ code: string; details: Record<string, unknown> } | { bytes: Uint8Array }> =>
    subject.fetcher.fetchBytes(url, limits).catch((thrown) => thrown);

  test.each(casesOfStage("static"))("rejects $url before any DNS query ($class)", async (each) => {
    const input = nameServer.total();
    expect(await outcome(urlOfCase(each, front))).toMatchObject({ code: "url_not_allowed" });
    expect(tried()).toEqual([]);
    expect(nameServer.total()).toBe(input);
  });

  const isRebinding = (each: SsrfCase) => each.class === "dns-rebinding";

  test.each(casesOfStage("dns").filter((each) => !isRebinding(each)))("goes nowhere for $url", async (each) => {
    const refused = each.class === "dns-failure" ? "source_fetch_failed" : "url_not_allowed";
    expect(await outcome(urlOfCase(each, front))).toMatchObject({ code: refused });
    expect(tried()).toEqual([]);
  });

  test.each(casesOfStage("dns").filter(isRebinding))("looks once and stays with the answer: $url", async (each) => {
    const url = urlOfCase(each, front);
    const name = new URL(url).hostname;
    const before = nameServer.queryCount(name);
    const reached: string[] = [];
    for (let times = 1; times <= 4; times++) {
      await outcome(url);
      expect(nameServer.queryCount(name) - before).toBe(times);
      reached.push(...tried());
    }
    // Nothing listens at the public address here: an allowed fetch ends with a refused connection.
    expect(reached.filter((address) => address !== PUBLIC_TEST_IP)).toEqual([]);
    expect(await outcome(url)).toMatchObject({ code: "url_not_allowed", details: { reason: "address" } });
    expect(tried()).toEqual([]);
  });

  test.each(casesOfStage("redirect"))("does not follow: $url", async (each) => {
    const before = front.connections();
    expect(await outcome(urlOfCase(each, front))).toMatchObject({
      code: expect.stringMatching(/^(url_not_allowed|source_fetch_failed)$/),
    });
    expect(tried().filter((address) => address !== PUBLIC_TEST_IP)).toEqual([]);
    expect(front.connections() - before).toBeLessThanOrEqual(4);
  });

  test.each(casesOfStage("body"))("does not take: $url", async (each) => {
    const sent = front.sent();
    const response = await outcome(urlOfCase(each, front));
    // A declared length that is too small is honoured: the rest is not read, and ten bytes are no image.
    if (each.url.startsWith("Content-Length 10,")) expect(response).toMatchObject({ bytes: { byteLength: 10 } });
    else expect(response).toMatchObject({ code: expect.stringMatching(/^source_(fetch_failed|too_large)$/) });
    expect(front.sent() - sent).toBeLessThan(25_000_000);
    expect(tried().filter((address) => address !== PUBLIC_TEST_IP)).toEqual([]);
  });

  test.each(corpus.allow)("fetches %s from its address", async (url) => {
    const response = await subject.fetcher.fetchBytes(url, { ...limits, timeoutSeconds: 1 }).catch((thrown) => thrown);
    expect(response.code).not.toBe("url_not_allowed");
    expect(subject.attempts.drain()[0]).toEqual(expectedEndpoint(url));
  });

  test("returns the bytes of allowed URLs, with and without TLS", async () => {
    for (const origin of [front.http, front.https]) {
      const { bytes, media_type } = await subject.fetcher.fetchBytes(`${origin}/image`, limits);
      expect(Buffer.from(bytes)).toEqual(IMAGE_BYTES);
      expect(media_type).toBe("image/png");
    }
    expect(nameServer.queryCount(ATTACK_HOST)).toBeGreaterThan(0);
    expect(tried().filter((address) => address !== PUBLIC_TEST_IP)).toEqual([]);
  });
});

test("a fetcher without the rules would be detected: the connection count is real", async () => {
  const open = createUrlFetcher({ allowRanges: ["127.0.0.0/8"], resolve: createDnsResolver([nameServer.server]) });
  here.drain();
  await open.fetchBytes("http://127.0.0.1:8443/", limits).catch(() => {});
  await open.fetchBytes("https://a-127.ssrf.test:8443/", limits).catch(() => {});
  expect(here.drain()).toEqual([
    { address: "127.0.0.1", port: 8443 },
    { address: "127.0.0.1", port: 8443 },
  ]);
  await open.close();
});

test("the corpus is complete", () => {
  expect(corpus.attack).toHaveLength(207);
  expect(corpus.allow).toHaveLength(10);
  expect(["static", "dns", "redirect", "body"].map((stage) => casesOfStage(stage as SsrfCase["stage"]).length)).toEqual(
    [167, 15, 12, 13],
  );
});
