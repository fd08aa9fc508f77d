// Which internet addresses are public. For IPv4 that is everything outside the special ranges; for IPv6 only what is handed
// out to the public, without the forms that carry an IPv4 address inside. What is not known to be public is not.
import { BlockList, isIP } from "node:net";

const NON_PUBLIC_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Azure answers every machine here, from an address that looks public.
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];

/** Mapped, compatible and translated forms of IPv4 lie outside, and with them everything private. */
const PUBLIC_IPV6 = ["2000::/3"];
/** Protocols' own (Teredo is among them), examples, and 6to4. */
const NON_PUBLIC_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];
/** An interface that stands for an IPv4 address (ISATAP): its routers send on to that address. */
const ISATAP_INTERFACE_ID = /(::|:0:|:200:)5efe(::|:[0-9a-f]+:[0-9a-f]+)$/;

const BITS = { ipv4: 32, ipv6: 128 };

export type IpRangeMatcher = (address: string) => boolean;

/** `10.0.0.0/8`, `fd00::/8`, or one address. */
export const isIpRange = (text: string): boolean => readRange(text) !== undefined;

const readRange = (text: string) => {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const family = match && familyOf(match[1]!);
  if (!family) return undefined;
  const prefix = Number(match[2] ?? BITS[family]);
  return prefix > BITS[family] ? undefined : { address: match[1]!, family, prefix };
};

/** Tells of an address whether it lies in one of the ranges. What is no address lies in none. */
export const createIpRangeMatcher = (ranges: readonly string[]): IpRangeMatcher => {
  // A list of each kind: in one list for both, ranges of IPv6 would hold addresses of IPv4, and the other way round.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of ranges) {
    const range = readRange(text);
    if (!range) throw new Error(`${text} is no range of addresses.`);
    lists[range.family].addSubnet(range.address, range.prefix, range.family);
  }
  return (address) => {
    const family = familyOf(address);
    return family !== undefined && lists[family].check(address, family);
  };
};

/** An address with a zone (`fe80::1%eth0`) means something on one machine only: it is of no family. */
const familyOf = (address: string): "ipv4" | "ipv6" | undefined => {
  if (address.includes("%")) return undefined;
  return ({ 4: "ipv4", 6: "ipv6" } as const)[isIP(address)];
};

const isInnerIpv4 = createIpRangeMatcher(NON_PUBLIC_IPV4);
const isPublicIpv6 = createIpRangeMatcher(PUBLIC_IPV6);
const isInnerIpv6 = createIpRangeMatcher(NON_PUBLIC_IPV6);

export const isPublicIp = (address: string): boolean => {
  if (isIP(address) === 4) return !isInnerIpv4(address);
  return isPublicIpv6(address) && !isInnerIpv6(address) && !ISATAP_INTERFACE_ID.test(shortest(address));
};

/** The one way of writing that every IPv6 address has. */
const shortest = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);
