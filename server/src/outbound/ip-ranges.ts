// Decides which IP addresses are public. IPv4: all addresses outside the special-purpose ranges. IPv6: only global
// unicast addresses, without those that embed an IPv4 address. All other addresses count as private.
import { BlockList, isIP } from "node:net";

const NON_PUBLIC_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // The Azure platform service, reachable from every virtual machine at an address that looks public.
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

/** Global unicast. IPv4-mapped, IPv4-compatible and translated addresses are outside this range. */
const PUBLIC_IPV6 = ["2000::/3"];
/** IETF protocol assignments (with Teredo), documentation and 6to4. */
const NON_PUBLIC_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];
/** ISATAP interface identifiers embed an IPv4 address, to which routers forward. */
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

/** Returns a function that tests whether an address is in one of the ranges. Invalid addresses are in none. */
export const createIpRangeMatcher = (ranges: readonly string[]): IpRangeMatcher => {
  // One list per family: a combined list would match IPv4 addresses against IPv6 ranges and vice versa.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of ranges) {
    const range = readRange(text);
    if (!range) throw new Error(`${text} is not an IP range.`);
    lists[range.family].addSubnet(range.address, range.prefix, range.family);
  }
  return (address) => {
    const family = familyOf(address);
    return family !== undefined && lists[family].check(address, family);
  };
};

/** An address with a zone (`fe80::1%eth0`) is valid only on one host, so it belongs to no family. */
const familyOf = (address: string): "ipv4" | "ipv6" | undefined => {
  if (address.includes("%")) return undefined;
  return ({ 4: "ipv4", 6: "ipv6" } as const)[isIP(address)];
};

const isInnerIpv4 = createIpRangeMatcher(NON_PUBLIC_IPV4);
const isPublicIpv6 = createIpRangeMatcher(PUBLIC_IPV6);
const isInnerIpv6 = createIpRangeMatcher(NON_PUBLIC_IPV6);

export const isPublicIp = (address: string): boolean => {
  if (isIP(address) === 4) return !isInnerIpv4(address);
  return isPublicIpv6(address) && !isInnerIpv6(address) && !ISATAP_INTERFACE_ID.test(canonicalIpv6(address));
};

/** An address of an internal network, of this machine, or reserved. Other texts are neither public nor private. */
export const isPrivateIp = (text: string): boolean => isIP(text) !== 0 && !isPublicIp(text);

/** The canonical text of an IPv6 address. */
const canonicalIpv6 = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);
