// Runs the SSRF corpus against any entry point that accepts untrusted URLs. The test supplies a function that submits
// one URL; it gets the outcome of every case and all connection attempts.

import { type AttackServers, PUBLIC_TEST_IP, startAttackServers } from "./attack-servers.ts";
import type { ConnectionLog } from "./connection-log.ts";
import { corpus, dnsRecords, OWN_NAMES, type SsrfCase, urlOfCase } from "./corpus.ts";
import { type DnsRecords, type DnsServer, startDnsServer } from "./dns-server.ts";

/** Where public names lead in the cases that must pass: to this address and no other. */
const EXAMPLE = "93.184.215.14";
/** The components of a test environment listen on random ports from here on; the ports of the cases are below. */
const PARTS_FROM = 10_000;
const NAMED = new Set(corpus.attack.map(({ url }) => Number(/:(\d{5})(?!\d)/.exec(url)?.[1])));
const AT_ONCE = 24;

export type TestInternet = {
  front: AttackServers;
  nameServer: DnsServer;
  /**
   * For the environment of the fetching process: the attack server is the public internet, and names are resolved here.
   */
  settings: Record<string, string>;
  /** The same, for a fetcher in the test's own process. */
  policy: { allowRanges: string[]; deny: string[]; ports: number[] };
  close(): Promise<void>;
};

/** A simulated internet on this machine, with the names of the corpus. */
export async function startTestInternet(): Promise<TestInternet> {
  const front = await startAttackServers();
  const open: DnsRecords = Object.fromEntries(
    corpus.allow.map((url) => [new URL(url).hostname, { addresses: [EXAMPLE] }]),
  );
  const nameServer = await startDnsServer({ ...dnsRecords, ...open });
  const policy = { allowRanges: [PUBLIC_TEST_IP], deny: OWN_NAMES, ports: [80, 443, 8080, 8443, ...front.ports] };
  return {
    front,
    nameServer,
    policy,
    settings: {
      FETCH_ALLOW_CIDRS: PUBLIC_TEST_IP,
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

/** Returns the result as text, which the test compares. */
export type SubmitUrl = (url: string, each: SsrfCase, index: number) => Promise<string>;
export type CaseResult = { case: SsrfCase; outcome: string };

/** Gives in the address of each case, a few at a time, as callers come. */
export async function runCorpus(
  { front }: Pick<TestInternet, "front">,
  submit: SubmitUrl,
  cases: readonly SsrfCase[] = corpus.attack,
): Promise<CaseResult[]> {
  const ended: CaseResult[] = [];
  const left = [...cases];
  const turn = async () => {
    for (let each = left.shift(); each !== undefined; each = left.shift()) {
      ended.push({ case: each, outcome: await submit(urlOfCase(each, front), each, corpus.attack.indexOf(each)) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, turn));
  return ended;
}

/** The cases whose end is not the one that was promised, in a form that reads well where a test fails. */
export const listUnexpected = (ended: CaseResult[], promised: RegExp): string[] =>
  ended
    .filter(({ outcome: end }) => !promised.test(end))
    .map(({ case: { stage, url }, outcome: end }) => `${stage} ${url}: ${end}`);

/** What was tried besides the public internet of the test. Nothing ever may be. */
export const forbiddenConnections = (attempts: ConnectionLog) =>
  attempts.drain().filter(({ address }) => address !== PUBLIC_TEST_IP);

/** The same for a running service, which connects to its own components. */
export const forbiddenServiceConnections = (attempts: ConnectionLog) =>
  forbiddenConnections(attempts).filter(
    ({ address, port }) => !(address === "127.0.0.1" && port >= PARTS_FROM && !NAMED.has(port)),
  );

/** Where a fetch of an allowed address has to go. */
export function expectedEndpoint(url: string): { address: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  const literal = hostname.replace(/[[\]]/g, "");
  const address = /^[\d.]+$|:/.test(literal) ? literal : EXAMPLE;
  return { address, port: Number(port || (protocol === "https:" ? 443 : 80)) };
}
