// Looks names up at name servers, and only there: what a machine's own list of hosts calls its neighbours is no business of
// strangers. A name server that is slow costs one answer and holds up nothing else.
import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";

const ANSWER_MS = 2_000;
const TRIES = 2;

export type DnsResolver = (name: string) => Promise<LookupAddress[]>;

/** `servers` are addresses such as `10.0.0.2` or `10.0.0.2:53`; the machine's own are asked where there are none. */
export const createDnsResolver = (servers: readonly string[] = []): DnsResolver => {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (name) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const answers = [...answersOf(four, 4), ...answersOf(six, 6)];
    if (answers.length > 0) return answers;
    // Nobody answers with an empty list: both were refused, or not answered.
    const cause = [four, six].map((each) => (each as PromiseRejectedResult).reason);
    const code = cause.some((each) => each.code === "ETIMEOUT") ? "ETIMEDOUT" : "ENOTFOUND";
    throw Object.assign(new Error(`No address of ${name}.`, { cause }), { code });
  };
};

const answersOf = (settled: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  settled.status === "fulfilled" ? settled.value.map((address) => ({ address, family })) : [];
