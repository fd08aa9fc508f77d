// The corpus as what a vendor says its results are: the step that makes results ours, with the real fetcher. A vendor's
// domain may hold hosts of anybody, so a name below it is looked at like any stranger's.
import tls from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Held } from "../../src/db/open-runs.ts";
import { createFetcher, type Fetcher } from "../../src/media/fetch.ts";
import { imageGate } from "../../src/media/inspect.ts";
import { createResolve } from "../../src/media/resolve.ts";
import type { House, LiveProvider } from "../../src/runs/house.ts";
import { keepOutputs } from "../../src/runs/store.ts";
import { attemptsHere } from "./attempts.ts";
import { corpus } from "./corpus.ts";
import { forbidden, type Net, placeOf, startNet, unlike, walkCorpus } from "./walk.ts";

const attempts = attemptsHere();
let net: Net;
let fetcher: Fetcher;

beforeAll(async () => {
  net = await startNet();
  tls.setDefaultCACertificates([net.front.authority.cert]);
  fetcher = createFetcher({ ...net.policy, resolve: createResolve([net.nameServer.server]) });
});
afterAll(async () => {
  await net.close();
  await fetcher.close();
});

/** Nothing of the corpus gets as far as being decoded. */
const images = imageGate({ perform: () => Promise.reject(new Error("was decoded")) });

async function outcomeOf(url: string, origins: string[]): Promise<string> {
  const house = { fetchBytes: fetcher.fetchBytes, moment: () => {}, images } as unknown as House;
  const live = { provider: { id: "vendor", resultOrigins: () => origins }, env: {} } as unknown as LiveProvider;
  const work = { n: 0, try: 1, job: { task: "image.generate", count: 1 } } as never;
  return keepOutputs(house, { run_id: "x" } as Held, work, live, { outputs: [{ url }] }).then(
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
  attempts.taken();
  const ended = await walkCorpus(net, (url) => outcomeOf(url, vendorOrigins()));
  expect(ended).toHaveLength(207);
  // The step's own words for a result that is of no use, and for a file server that is away.
  expect(unlike(ended, /^(provider_output_invalid|dependency_unavailable)$/)).toEqual([]);
  expect(forbidden(attempts)).toEqual([]);
}, 60_000);

test("a result at each of the 10 good addresses is asked for there, where the vendor may have it", async () => {
  const asked: Promise<string>[] = [];
  for (const url of corpus.allow) {
    const { protocol, host, origin } = new URL(url);
    // Below a star it is a stranger's; what is written out whole is the vendor's own, and IPv6 has nothing below it.
    const below = `${protocol}//*${host.slice(host.indexOf("."))}`;
    attempts.taken();
    asked.push(outcomeOf(url, [host.includes(".") ? below : origin]));
    await expect.poll(() => attempts.taken()[0], { timeout: 5_000 }).toEqual(placeOf(url));
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
  expect(await outcomeOf(`${net.front.broken.expired}/picture`, origins)).toBe("dependency_unavailable");
});
