// The corpus as result URLs of a provider: the step that stores results, with the real fetcher. A provider's domain may
// contain hosts of others, so a name below it is checked like any other.

import tls from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunClaim } from "../../src/db/run-claims.ts";
import { createImageDecoder } from "../../src/files/images/image-decoder.ts";
import { createDnsResolver } from "../../src/outbound/dns-resolver.ts";
import { createUrlFetcher, type UrlFetcher } from "../../src/outbound/url-fetcher.ts";
import type { EnabledProvider } from "../../src/runs/offers/provider-registry.ts";
import { createByteBudget } from "../../src/runs/outputs/byte-budget.ts";
import { type OutputDependencies, storeOutputs } from "../../src/runs/outputs/store-outputs.ts";
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
  const dependencies = {
    http: { open: fetcher.open },
    byteBudget: createByteBudget(64 * 1024 * 1024),
    settings: { maxOutputBytes: 64 * 1024 * 1024 },
    crashPoint: () => {},
    images,
  } as unknown as OutputDependencies;
  const enabledProvider = {
    provider: { id: "vendor", resultOrigins: () => origins },
    env: {},
  } as unknown as EnabledProvider;
  const request = { requestIndex: 0, attemptNumber: 1, job: { task: "image.generate", count: 1 } } as never;
  return storeOutputs(dependencies, { run_id: "x" } as RunClaim, request, enabledProvider, { outputs: [{ url }] }).then(
    () => "kept",
    ({ code, message }) => code ?? message,
  );
}

/** Ports are part of an origin, so those of the front are named with the star as well. */
const vendorOrigins = () => [
  ...["https://*.ssrf.test", "http://*.ssrf.test", "https://*.nip.test"],
  ...net.front.ports.flatMap((port) => [`http://*.ssrf.test:${port}`, `https://*.ssrf.test:${port}`]),
];

test("a result at any of the 207 URLs of the corpus is not stored, and no internal host is contacted", async () => {
  attempts.drain();
  const ended = await runCorpus(net, (url) => outcomeOf(url, vendorOrigins()));
  expect(ended).toHaveLength(207);
  // The errors of the step for an invalid result, for an unreachable file server, and for one that announces 10 GB.
  expect(listUnexpected(ended, /^(provider_output_invalid|dependency_unavailable|storage_failed)$/)).toEqual([]);
  expect(ended.filter(({ outcome }) => outcome === "storage_failed")).toHaveLength(1);
  expect(forbiddenConnections(attempts)).toEqual([]);
});

test("a result at each of the 10 valid URLs is fetched, if the provider may use it", async () => {
  const input: Promise<string>[] = [];
  for (const url of corpus.allow) {
    const { protocol, host, origin } = new URL(url);
    // A name below a wildcard is untrusted; a name that is listed in full is trusted, and IPv6 addresses have no
    // subdomains.
    const below = `${protocol}//*${host.slice(host.indexOf("."))}`;
    attempts.drain();
    input.push(outcomeOf(url, [host.includes(".") ? below : origin]));
    await expect.poll(() => attempts.drain()[0]).toEqual(expectedEndpoint(url));
  }
  await Promise.all(input);
});

test("a result below a provider's domain that resolves to an internal address is invalid, not merely unreachable", async () => {
  for (const name of ["a-127", "a-10", "a-169", "aaaa-1", "mixed"]) {
    expect(await outcomeOf(`https://${name}.ssrf.test/x.png`, ["https://*.ssrf.test"])).toBe("provider_output_invalid");
  }
});

test("a result that is a page or empty is invalid, and one whose server is unreachable is retried", async () => {
  const origins = vendorOrigins();
  expect(await outcomeOf(`${net.front.http}/page`, origins)).toBe("provider_output_invalid");
  expect(await outcomeOf(`${net.front.http}/empty`, origins)).toBe("provider_output_invalid");
  expect(await outcomeOf(`${net.front.invalidTls.expired}/image`, origins)).toBe("dependency_unavailable");
});
