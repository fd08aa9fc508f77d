// The corpus as what a vendor says its results are: the step that makes results ours, with the real fetcher. A vendor's
// domain may hold hosts of anybody, so a name below it is looked at like any stranger's.
import tls from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunClaim } from "../../src/db/runs/open-runs.ts";
import { createImageDecoder } from "../../src/images/image-decoder.ts";
import { createDnsResolver } from "../../src/outbound/dns-resolver.ts";
import { createUrlFetcher, type UrlFetcher } from "../../src/outbound/url-fetcher.ts";
import type { EnabledProvider, Services } from "../../src/runs/services.ts";
import { storeOutputs } from "../../src/runs/store-outputs.ts";
import { recordConnections } from "./connection-log.ts";
import { corpus } from "./corpus.ts";
import {
  expectedEndpoint,
  forbiddenConnections,
  listUnexpected,
  runCorpus,
  startTestInternet,
  type TestInternet,
} from "./run-corpus.ts";

const attempts = recordConnections();
let net: TestInternet;
let fetcher: UrlFetcher;

beforeAll(async () => {
  net = await startTestInternet();
  tls.setDefaultCACertificates([net.front.authority.cert]);
  fetcher = createUrlFetcher({ ...net.policy, resolve: createDnsResolver([net.nameServer.server]) });
});
afterAll(async () => {
  await net.close();
  await fetcher.close();
});

/** Nothing of the corpus gets as far as being decoded. */
const images = createImageDecoder({ perform: () => Promise.reject(new Error("was decoded")) });

async function outcomeOf(url: string, origins: string[]): Promise<string> {
  const house = { fetchBytes: fetcher.fetchBytes, moment: () => {}, images } as unknown as Services;
  const live = { provider: { id: "vendor", resultOrigins: () => origins }, env: {} } as unknown as EnabledProvider;
  const work = { n: 0, try: 1, job: { task: "image.generate", count: 1 } } as never;
  return storeOutputs(house, { run_id: "x" } as RunClaim, work, live, { outputs: [{ url }] }).then(
    () => "kept",
    ({ code, message }) => code ?? message,
  );
}

/** Ports are part of an origin, so those of the front are named with the star as well. */
const vendorOrigins = () => [
  ...["https://*.ssrf.test", "http://*.ssrf.test", "https://*.nip.test"],
  ...net.front.ports.flatMap((port) => [`http://*.ssrf.test:${port}`, `https://*.ssrf.test:${port}`]),
];

test("a result at any of the 207 addresses of the corpus is not ours, and nobody inside is asked", async () => {
  attempts.drain();
  const ended = await runCorpus(net, (url) => outcomeOf(url, vendorOrigins()));
  expect(ended).toHaveLength(207);
  // The step's own words for a result that is of no use, and for a file server that is away.
  expect(listUnexpected(ended, /^(provider_output_invalid|dependency_unavailable)$/)).toEqual([]);
  expect(forbiddenConnections(attempts)).toEqual([]);
}, 60_000);

test("a result at each of the 10 good addresses is asked for there, where the vendor may have it", async () => {
  const asked: Promise<string>[] = [];
  for (const url of corpus.allow) {
    const { protocol, host, origin } = new URL(url);
    // Below a star it is a stranger's; what is written out whole is the vendor's own, and IPv6 has nothing below it.
    const below = `${protocol}//*${host.slice(host.indexOf("."))}`;
    attempts.drain();
    asked.push(outcomeOf(url, [host.includes(".") ? below : origin]));
    await expect.poll(() => attempts.drain()[0], { timeout: 5_000 }).toEqual(expectedEndpoint(url));
  }
  await Promise.all(asked);
});

test("a result below a vendor's domain that leads inside is invalid, not merely away", async () => {
  for (const name of ["a-127", "a-10", "a-169", "aaaa-1", "mixed"]) {
    expect(await outcomeOf(`https://${name}.ssrf.test/x.png`, ["https://*.ssrf.test"])).toBe("provider_output_invalid");
  }
});

test("a result that is a page or empty is invalid, and one whose server is away is waited for", async () => {
  const origins = vendorOrigins();
  expect(await outcomeOf(`${net.front.http}/page`, origins)).toBe("provider_output_invalid");
  expect(await outcomeOf(`${net.front.http}/empty`, origins)).toBe("provider_output_invalid");
  expect(await outcomeOf(`${net.front.invalidTls.expired}/picture`, origins)).toBe("dependency_unavailable");
});
