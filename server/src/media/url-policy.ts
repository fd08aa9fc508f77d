// Which addresses of the world may be asked for anything: public ones, by the web's usual doors. What is not known to
// be public is not.
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { Fault } from "../faults.ts";

const ports = new Set(["", "80", "443", "8080", "8443"]);
/** Names that mean something only inside somebody's network. */
const innerNames = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "home.arpa",
];
/** Azure answers every machine here, from an address that looks public. */
const innerAddresses = new Set(["168.63.129.16"]);
/** The only part of IPv6 that is handed out to the public. */
const publicIpv6 = ipaddr.parseCIDR("2000::/3");

export type Refusal = "url" | "scheme" | "credentials" | "port" | "host" | "address" | "downgrade" | "foreign_address";

export const notAllowed = (reason: Refusal): Fault => new Fault("url_not_allowed", { reason });

/** Mapped and translated forms of IPv4 are refused whole: no public picture lives behind them. */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0 || innerAddresses.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || parsed.match(publicIpv6);
};

/** Reads an address once, by the rules that the request itself will follow, and refuses what is not the web. */
export const parseWebUrl = (text: string | URL, from?: URL): URL => {
  const url = URL.parse(text, from);
  if (!url) throw notAllowed("url");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw notAllowed("scheme");
  if (url.username !== "" || url.password !== "") throw notAllowed("credentials");
  return url;
};

/** What can be told before any name is looked up; what names lead to is checked when connecting. */
export const checkPublicUrl = (url: URL): void => {
  if (!ports.has(url.port)) throw notAllowed("port");
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) throw notAllowed("address");
    return;
  }
  const isInner = !host.includes(".") || innerNames.some((name) => host.endsWith(`.${name}`));
  if (isInner) throw notAllowed("host");
};
