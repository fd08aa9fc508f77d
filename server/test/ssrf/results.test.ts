// The corpus as what a vendor says its results are: the step that makes results ours, with the real fetcher. A vendor's
// domain may hold hosts of anybody, so a name below it is looked at like any stranger's.
import tls from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Held } from "../../src/db/open-runs.ts";
import { createFetcher, type Fetcher } from "../../src/media/fetch.ts";
import { createResolve } from "../../src/media/resolve.ts";
import type { House, LiveProvider } from "../../src/runs/house.ts";
import { keepOutputs } from "../../src/runs/store.ts";
import { attemptsHere } from "./attempts.ts";
import { addressOf, type Case, corpus, names, OWN_NAMES } from "./corpus.ts";
import { type Front, PUBLIC, startFront } from "./front.ts";
import { type NameServer, startNameServer } from "./name-server.ts";

const attempts = attemptsHere();
let front: Front;
let nameServer: NameServer;
let fetcher: Fetcher;

beforeAll(async () => {
  front = await startFront();
  nameServer = await startNameServer(names);
  tls.setDefaultCACertificates([front.authority.cert]);
  fetcher = createFetcher({
    allowRanges: [PUBLIC],
    deny: OWN_NAMES,
    ports: [80, 443, 8080, 8443, ...front.ports],
    resolve: createResolve([nameServer.server]),
  });
});
afterAll(async () => {
  nameServer.close();
  await front.close();
  await fetcher.close();
});

/** The step's own words for a result that is of no use, and for a file server that is away. */
const ENDS = /^(provider_output_invalid|dependency_unavailable)$/;

async function outcomeOf(url: string, origins: string[]): Promise<string> {
  const house = { fetchBytes: fetcher.fetchBytes, moment: () => {} } as unknown as House;
  const live = { provider: { id: "vendor", resultOrigins: () => origins }, env: {} } as unknown as LiveProvider;
  const work = { n: 0, try: 1, job: { task: "image.generate", count: 1 } } as never;
  return keepOutputs(house, { run_id: "x" } as Held, work, live, { outputs: [{ url }] }).then(
    () => "kept",
    ({ code }) => code,
  );
}

/** Ports are part of an origin, so those of the front are named with the star as well. */
const vendorOrigins = () => [
  ...["https://*.ssrf.test", "http://*.ssrf.test", "https://*.nip.test"],
  ...front.ports.flatMap((port) => [`http://*.ssrf.test:${port}`, `https://*.ssrf.test:${port}`]),
];
const isQuick = (each: Case) => !/1 byte every|blackhole|answer after|Content-Length 10,/.test(each.url);

describe("a result at an address of the corpus", () => {
  test.each(corpus.attack.filter(isQuick))("is not fetched: $url", async (each) => {
    attempts.taken();
    expect(await outcomeOf(addressOf(each, front), vendorOrigins())).toMatch(ENDS);
    expect(attempts.taken().filter(({ address }) => address !== PUBLIC)).toEqual([]);
  });
});

test("a result below a vendor's domain that leads inside is invalid, not merely away", async () => {
  for (const name of ["a-127", "a-10", "a-169", "aaaa-1", "mixed"]) {
    expect(await outcomeOf(`https://${name}.ssrf.test/x.png`, ["https://*.ssrf.test"])).toBe("provider_output_invalid");
  }
});

test("a result that is a page or empty is invalid, and one whose server is away is waited for", async () => {
  const origins = vendorOrigins();
  expect(await outcomeOf(`${front.http}/page`, origins)).toBe("provider_output_invalid");
  expect(await outcomeOf(`${front.http}/empty`, origins)).toBe("provider_output_invalid");
  expect(await outcomeOf(`${front.broken.expired}/picture`, origins)).toBe("dependency_unavailable");
});
