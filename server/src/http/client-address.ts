// Finds the IP address of a client. Behind proxies it is in X-Forwarded-For, which anyone can write: only entries that
// the operator's own proxies added count.
import type { IncomingMessage } from "node:http";

export type FindClientAddress = (incoming: Pick<IncomingMessage, "socket" | "headers"> | undefined) => string;

export type ClientAddresses = {
  find: FindClientAddress;
  /** The latest address that looks like a proxy which TRUSTED_PROXIES does not name, so its clients share it. */
  unnamedProxy(): string | undefined;
};

/** Clients without a known address share one name. */
const UNKNOWN = "unknown";
const MAX_LENGTH = 64;

/** `isTrustedProxy` says whether an IP address is one of the operator's reverse proxies. */
type AddressKinds = { isTrustedProxy(ip: string): boolean; isPrivateIp(ip: string): boolean };

export function createClientAddresses({ isTrustedProxy, isPrivateIp }: AddressKinds): ClientAddresses {
  let unnamedProxy: string | undefined;
  return {
    find(incoming) {
      const peer = unmapIp(incoming?.socket?.remoteAddress ?? "");
      const header = [incoming?.headers["x-forwarded-for"]].flat().join(",");
      const entries = header.split(",").flatMap((entry) => unmapIp(entry.trim()) || []);
      // From the right: each proxy appends the address that it saw. The first that is not a proxy is the client.
      const seen = isTrustedProxy(peer) ? entries : [...entries, peer];
      const index = seen.findLastIndex((entry) => !isTrustedProxy(entry));
      const client = seen[index] ?? peer;
      // A private address that forwards for another one. Public ones are left out: any client can send the header.
      if (index > 0 && isPrivateIp(client)) unnamedProxy = client;
      return toClient(client);
    },
    unnamedProxy: () => unnamedProxy,
  };
}

const unmapIp = (ip: string) => ip.replace(/^::ffff:(?=\d+\.)/i, "");

/** A client has a whole /64 network of IPv6, so its addresses count as one. */
function toClient(ip: string): string {
  if (!ip.includes(":")) return ip.slice(0, MAX_LENGTH) || UNKNOWN;
  const [head = "", tail] = ip.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length) }, () => "0");
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":").slice(0, MAX_LENGTH)}::/64`;
}
