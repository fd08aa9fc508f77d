// Resolves untrusted host names with DNS servers only, never with the hosts file, which can name internal machines. A
// slow DNS server delays only its own request.
import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";

const ANSWER_MS = 2_000;
const TRIES = 2;

export type DnsResolver = (name: string) => Promise<LookupAddress[]>;

/** `servers` are addresses such as `10.0.0.2` or `10.0.0.2:53`. Default: the DNS servers of the system. */
export const createDnsResolver = (servers: readonly string[] = []): DnsResolver => {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (name) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (addresses.length > 0) return addresses;
    // DNS never returns an empty list: both queries failed.
    const cause = [four, six].map((each) => (each as PromiseRejectedResult).reason);
    const code = cause.some((each) => each.code === "ETIMEOUT") ? "ETIMEDOUT" : "ENOTFOUND";
    throw Object.assign(new Error(`No IP address found for ${name}.`, { cause }), { code });
  };
};

const addressesOf = (settled: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  settled.status === "fulfilled" ? settled.value.map((address) => ({ address, family })) : [];
