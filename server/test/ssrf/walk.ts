// The whole corpus through any door that takes addresses from strangers: a test says how an address is given in there and
// what comes of it, and gets the ends of all cases, with every connection that anybody tried besides.
import type { Attempts } from "./attempts.ts";
import { addressOf, type Case, corpus, names, OWN_NAMES } from "./corpus.ts";
import { type Front, PUBLIC, startFront } from "./front.ts";
import { type NameServer, type Names, startNameServer } from "./name-server.ts";

/** Where public names lead in the cases that must pass: to this address and no other. */
const EXAMPLE = "93.184.215.14";
/** The parts of a world listen at ports that were free, from here on; what a case names is never taken for one. */
const PARTS_FROM = 10_000;
const NAMED = new Set(corpus.attack.map(({ url }) => Number(/:(\d{5})(?!\d)/.exec(url)?.[1])));
const AT_ONCE = 24;

export type Net = {
  front: Front;
  nameServer: NameServer;
  /** For the environment of whoever fetches: the front is the public internet, and names are asked here. */
  settings: Record<string, string>;
  /** The same, for a fetcher in the test's own process. */
  policy: { allowRanges: string[]; deny: string[]; ports: number[] };
  close(): Promise<void>;
};

/** An internet of strangers on this machine, with the names that the corpus speaks of. */
export async function startNet(): Promise<Net> {
  const front = await startFront();
  const open: Names = Object.fromEntries(corpus.allow.map((url) => [new URL(url).hostname, { addresses: [EXAMPLE] }]));
  const nameServer = await startNameServer({ ...names, ...open });
  const policy = { allowRanges: [PUBLIC], deny: OWN_NAMES, ports: [80, 443, 8080, 8443, ...front.ports] };
  return {
    front,
    nameServer,
    policy,
    settings: {
      FETCH_ALLOW_CIDRS: PUBLIC,
      FETCH_DENY: OWN_NAMES.join(","),
      FETCH_PORTS: policy.ports.join(","),
      FETCH_DNS_SERVERS: nameServer.server,
    },
    async close() {
      nameServer.close();
      await front.close();
    },
  };
}

/** Answers what came of it, in words that the test compares. */
export type Submit = (url: string, each: Case, index: number) => Promise<string>;
export type Ended = { case: Case; end: string };

/** Gives in the address of each case, a few at a time, as callers come. */
export async function walkCorpus(
  { front }: Pick<Net, "front">,
  submit: Submit,
  cases: readonly Case[] = corpus.attack,
): Promise<Ended[]> {
  const ended: Ended[] = [];
  const left = [...cases];
  const turn = async () => {
    for (let each = left.shift(); each !== undefined; each = left.shift()) {
      ended.push({ case: each, end: await submit(addressOf(each, front), each, corpus.attack.indexOf(each)) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, turn));
  return ended;
}

/** The cases whose end is not the one that was promised, in a form that reads well where a test fails. */
export const unlike = (ended: Ended[], promised: RegExp): string[] =>
  ended.filter(({ end }) => !promised.test(end)).map(({ case: { stage, url }, end }) => `${stage} ${url}: ${end}`);

/** What was tried besides the public internet of the test. Nothing ever may be. */
export const forbidden = (attempts: Attempts) => attempts.taken().filter(({ address }) => address !== PUBLIC);

/** The same for a whole service, which calls the parts that it consists of. */
export const forbiddenToService = (attempts: Attempts) =>
  forbidden(attempts).filter(
    ({ address, port }) => !(address === "127.0.0.1" && port >= PARTS_FROM && !NAMED.has(port)),
  );

/** Where a fetch of an allowed address has to go. */
export function placeOf(url: string): { address: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  const literal = hostname.replace(/[[\]]/g, "");
  const address = /^[\d.]+$|:/.test(literal) ? literal : EXAMPLE;
  return { address, port: Number(port || (protocol === "https:" ? 443 : 80)) };
}
