// Finds the IP address of a client. Behind proxies it is in X-Forwarded-For, which anyone can write: only entries that
// the operator's own proxies added count.
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { z } from "zod";

export const ClientAddressEnv = z.object({
  TRUSTED_PROXIES: z
    .string()
    .default("")
    .transform((text, context) => {
      const ranges = text
        .split(",")
        .map((range) => range.trim())
        .filter(Boolean);
      for (const range of ranges.filter((each) => !isRange(each)))
        context.addIssue({ code: "custom", message: `${range} is not an IP address or range such as 10.1.0.0/16` });
      return ranges;
    })
    .describe("IP addresses and ranges of your own reverse proxies, comma-separated. Default: none"),
});

export type FindClientAddress = (incoming: Pick<IncomingMessage, "socket" | "headers"> | undefined) => string;

/** Clients without a known address share one name. */
const UNKNOWN = "unknown";

export function createClientAddressFinder(trustedProxies: readonly string[]): FindClientAddress {
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [ip = "", bits] = range.split("/");
    const family = isIP(ip) === 6 ? "ipv6" : "ipv4";
    trusted.addSubnet(ip, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  }
  const isTrusted = (ip: string) => isIP(ip) !== 0 && trusted.check(ip, isIP(ip) === 6 ? "ipv6" : "ipv4");
  return (incoming) => {
    const peer = unmapIp(incoming?.socket?.remoteAddress ?? "");
    if (!isTrusted(peer)) return toClient(peer);
    const forwarded = [incoming?.headers["x-forwarded-for"]].flat().join(",").split(",");
    // From the right: each proxy appends the address that it saw. The first untrusted one is the client.
    for (const entry of forwarded.reverse().map((each) => unmapIp(each.trim()))) {
      if (isIP(entry) === 0) break;
      if (!isTrusted(entry)) return toClient(entry);
    }
    return toClient(peer);
  };
}

function isRange(text: string): boolean {
  const [ip = "", bits, ...rest] = text.split("/");
  const version = isIP(ip);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

const unmapIp = (ip: string) => ip.replace(/^::ffff:(?=\d+\.)/i, "");

/** A client has a whole /64 network of IPv6, so its addresses count as one. */
function toClient(ip: string): string {
  if (isIP(ip) !== 6) return ip || UNKNOWN;
  const [head = "", tail] = ip.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - left.length - right.length }, () => "0");
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`;
}
