// The corpus of attacks against the real fetcher, in this process and in one of its own: real names, real sockets, and every
// connection that is tried counted below all of our code.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createFetcher, type Fetcher } from "../../src/media/fetch.ts";
import { createRemoteFetcher } from "../../src/media/fetch-remote.ts";
import { createResolve } from "../../src/media/resolve.ts";
import { type Attempts, attemptsHere, attemptsIn, noteAttemptsIn } from "./attempts.ts";
import { addressOf, type Case, casesOf, corpus } from "./corpus.ts";
import { type FetcherProcess, mustStart, TOKEN } from "./fetcher-process.ts";
import { FRONT, type Front, PICTURE, PUBLIC } from "./front.ts";
import type { NameServer } from "./name-server.ts";
import { type Net, placeOf, startNet } from "./walk.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-ssrf-"));
const here = attemptsHere();
const limits = { maxBytes: 100_000, timeoutSeconds: 30 };
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
/** A proxy that anybody used would be seen as a connection to this machine. */
const proxies = Object.fromEntries([
  ...PROXIES.map((name) => [name, "http://127.0.0.1:9"]),
  ["NODE_USE_ENV_PROXY", "1"],
]);

let net: Net;
let front: Front;
let nameServer: NameServer;

beforeAll(async () => {
  Object.assign(process.env, proxies);
  net = await startNet();
  ({ front, nameServer } = net);
  tls.setDefaultCACertificates([front.authority.cert]);
});
afterAll(async () => {
  await net.close();
  rmSync(folder, { recursive: true });
});

type Subject = { fetcher: Fetcher; attempts: Attempts; stop(): Promise<void> };

function inThisProcess(): Subject {
  const fetcher = createFetcher({ ...net.policy, resolve: createResolve([nameServer.server]) });
  // Our own line to the fetcher's process is no attempt of the fetcher.
  return { fetcher, attempts: here, stop: () => fetcher.close() };
}

async function inItsOwnProcess(): Promise<Subject> {
  const file = join(folder, "attempts");
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, front.authority.cert);
  const started: FetcherProcess = await mustStart({
    ...proxies,
    ...noteAttemptsIn(file),
    NODE_EXTRA_CA_CERTS: authority,
    ...net.settings,
  });
  const fetcher = createRemoteFetcher({ url: started.url, token: TOKEN, checkUrl: () => {} });
  return { fetcher, attempts: attemptsIn(file), stop: started.stop };
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
  beforeEach(() => void subject.attempts.taken());

  const tried = () => [...new Set(subject.attempts.taken().map(({ address }) => address))];
  const outcome = (url: string): Promise<{ code: string; details: Record<string, unknown> } | { bytes: Uint8Array }> =>
    subject.fetcher.fetchBytes(url, limits).catch((thrown) => thrown);

  test.each(casesOf("static"))("refuses $url before anybody is asked ($class)", async (each) => {
    const asked = nameServer.total();
    expect(await outcome(addressOf(each, front))).toMatchObject({ code: "url_not_allowed" });
    expect(tried()).toEqual([]);
    expect(nameServer.total()).toBe(asked);
  });

  const isRebinding = (each: Case) => each.class === "dns-rebinding";

  test.each(casesOf("dns").filter((each) => !isRebinding(each)))("goes nowhere for $url", async (each) => {
    const refused = each.class === "dns-failure" ? "source_fetch_failed" : "url_not_allowed";
    expect(await outcome(addressOf(each, front))).toMatchObject({ code: refused });
    expect(tried()).toEqual([]);
  });

  test.each(casesOf("dns").filter(isRebinding))("looks once and stays with the answer: $url", async (each) => {
    const url = addressOf(each, front);
    const name = new URL(url).hostname;
    const before = nameServer.asked(name);
    const reached: string[] = [];
    for (let times = 1; times <= 4; times++) {
      await outcome(url);
      expect(nameServer.asked(name) - before).toBe(times);
      reached.push(...tried());
    }
    // Nobody listens at the public address here: a fetch that is let through ends at a closed door.
    expect(reached.filter((address) => address !== PUBLIC)).toEqual([]);
    expect(await outcome(url)).toMatchObject({ code: "url_not_allowed", details: { reason: "address" } });
    expect(tried()).toEqual([]);
  });

  test.each(casesOf("redirect"))("does not follow: $url", async (each) => {
    const before = front.connections();
    expect(await outcome(addressOf(each, front))).toMatchObject({
      code: expect.stringMatching(/^(url_not_allowed|source_fetch_failed)$/),
    });
    expect(tried().filter((address) => address !== PUBLIC)).toEqual([]);
    expect(front.connections() - before).toBeLessThanOrEqual(4);
  });

  test.each(casesOf("body"))("does not take: $url", async (each) => {
    const sent = front.sent();
    const beginning = performance.now();
    const answer = await outcome(addressOf(each, front));
    // A length that was declared too small is kept to: what is left over is not read, and ten bytes are no picture.
    if (each.url.startsWith("Content-Length 10,")) expect(answer).toMatchObject({ bytes: { byteLength: 10 } });
    else expect(answer).toMatchObject({ code: expect.stringMatching(/^source_(fetch_failed|too_large)$/) });
    expect(performance.now() - beginning).toBeLessThan(8_000);
    expect(front.sent() - sent).toBeLessThan(25_000_000);
    expect(tried().filter((address) => address !== PUBLIC)).toEqual([]);
  });

  test.each(corpus.allow)("lets %s through to the address it leads to", async (url) => {
    const answer = await subject.fetcher.fetchBytes(url, { ...limits, timeoutSeconds: 1 }).catch((thrown) => thrown);
    expect(answer.code).not.toBe("url_not_allowed");
    expect(subject.attempts.taken()[0]).toEqual(placeOf(url));
  });

  test("brings the bytes of what it may fetch, with and without TLS", async () => {
    for (const origin of [front.http, front.https]) {
      const { bytes, media_type } = await subject.fetcher.fetchBytes(`${origin}/picture`, limits);
      expect(Buffer.from(bytes)).toEqual(PICTURE);
      expect(media_type).toBe("image/png");
    }
    expect(nameServer.asked(FRONT)).toBeGreaterThan(0);
    expect(tried().filter((address) => address !== PUBLIC)).toEqual([]);
  });
});

test("a fetcher without the rule would be seen: the count of connections is real", async () => {
  const open = createFetcher({ allowRanges: ["127.0.0.0/8"], resolve: createResolve([nameServer.server]) });
  here.taken();
  await open.fetchBytes("http://127.0.0.1:8443/", limits).catch(() => {});
  await open.fetchBytes("https://a-127.ssrf.test:8443/", limits).catch(() => {});
  expect(here.taken()).toEqual([
    { address: "127.0.0.1", port: 8443 },
    { address: "127.0.0.1", port: 8443 },
  ]);
  await open.close();
});

test("the corpus is whole", () => {
  expect(corpus.attack).toHaveLength(207);
  expect(corpus.allow).toHaveLength(10);
  expect(["static", "dns", "redirect", "body"].map((stage) => casesOf(stage as Case["stage"]).length)).toEqual([
    167, 15, 12, 13,
  ]);
});
