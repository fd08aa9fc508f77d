// Finds the IP address of a client. Behind proxies it is in X-Forwarded-For, which anyone can write: only entries that
// the operator's own proxies added count.
import type { IncomingMessage } from "node:http";

export type FindClientAddress = (incoming: Pick<IncomingMessage, "socket" | "headers"> | undefined) => string;

/** Clients without a known address share one name. */
const UNKNOWN = "unknown";
const MAX_LENGTH = 64;

/** `isTrustedProxy` says whether an IP address is one of the operator's reverse proxies. */
export function createClientAddressFinder(isTrustedProxy: (ip: string) => boolean): FindClientAddress {
  return (incoming) => {
    const peer = unmapIp(incoming?.socket?.remoteAddress ?? "");
    if (!isTrustedProxy(peer)) return toClient(peer);
    const forwarded = [incoming?.headers["x-forwarded-for"]].flat().join(",").split(",");
    // From the right: each proxy appends the address that it saw. The first that is not a proxy is the client.
    const client = forwarded
      .map((entry) => unmapIp(entry.trim()))
      .findLast((entry) => entry !== "" && !isTrustedProxy(entry));
    return toClient(client ?? peer);
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
