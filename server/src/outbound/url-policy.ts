// URL policy against SSRF: http(s), usual ports, public IP addresses, plus what the operator allows. Checked twice: on the URL before DNS
// and on the IP address that is connected; both must pass.
import { isIP } from "node:net";
import { Fault } from "../faults.ts";
import { createIpRangeMatcher, isIpRange, isPublicIp } from "./ip-ranges.ts";

const LONGEST_URL = 8192;
const LONGEST_NAME = 253;
const USUAL_PORTS = [80, 443, 8080, 8443];
/** Names that mean something only inside somebody's network, or outside of the internet's own names. */
const PRIVATE_HOST_SUFFIXES = [
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
  "svc",
  "onion",
];
/** Some readers of addresses skip these and others do not: no two would agree on where it leads. */
const AMBIGUOUS_CHARACTERS = /[\p{Cc}\\]/u;

export type UrlRefusalReason =
  | "url"
  | "scheme"
  | "credentials"
  | "port"
  | "host"
  | "address"
  | "downgrade"
  | "foreign_address";

export const urlNotAllowed = (reason: UrlRefusalReason): Fault => new Fault("url_not_allowed", { reason });

export type UrlPolicySettings = {
  /** Ranges of addresses that are allowed although they are not public. */
  allowRanges?: readonly string[];
  /** Names (with all below them) and ranges of addresses that are never asked, whatever else is allowed. */
  deny?: readonly string[];
  ports?: readonly number[];
};

export type UrlPolicy = {
  /** What can be told before any name is looked up. */
  check(url: URL): void;
  /** The last word, on the address that is really connected. */
  isAllowedIp(address: string): boolean;
};

export const createUrlPolicy = ({
  allowRanges = [],
  deny = [],
  ports = USUAL_PORTS,
}: UrlPolicySettings = {}): UrlPolicy => {
  const isAdded = createIpRangeMatcher(allowRanges);
  const isDenied = createIpRangeMatcher(deny.filter(isIpRange));
  const innerNames = [...PRIVATE_HOST_SUFFIXES, ...deny.filter((each) => !isIpRange(each)).map(toName)];
  const isAllowed = (address: string) => !isDenied(address) && (isPublicIp(address) || isAdded(address));

  const checkName = (name: string): void => {
    if (!name.includes(".") || name.length > LONGEST_NAME) throw urlNotAllowed("host");
    if (innerNames.some((inner) => name === inner || name.endsWith(`.${inner}`))) throw urlNotAllowed("host");
  };
  return {
    isAllowedIp: isAllowed,
    check: (url) => {
      if (!ports.includes(portOf(url))) throw urlNotAllowed("port");
      const host = hostOf(url);
      if (isIP(host) === 0) return checkName(host);
      if (!isAllowed(host)) throw urlNotAllowed("address");
    },
  };
};

/** A name of a host: its last part is no number, or it would be an address in disguise. */
export const isHostName = (text: string): boolean => /^([a-z\d-]+\.)*[a-z\d-]*[a-z-][a-z\d-]*$/i.test(text);

const toName = (text: string): string => {
  if (!isHostName(text)) throw new Error(`${text} is neither a name nor a range of addresses.`);
  return text.toLowerCase();
};

/** Reads an address once, by the rules that the request itself will follow, and refuses what is not the web. */
export const parseWebUrl = (text: string, from?: URL): URL => {
  if (text.length > LONGEST_URL || AMBIGUOUS_CHARACTERS.test(text)) throw urlNotAllowed("url");
  const url = URL.parse(text, from);
  if (!url) throw urlNotAllowed("url");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw urlNotAllowed("scheme");
  if (url.username !== "" || url.password !== "") throw urlNotAllowed("credentials");
  return url;
};

/** `https://*.example.com` stands for every host below the domain. */
export const isAllowedOrigin = (url: string, origins: readonly string[]): boolean => {
  const { protocol, host, origin } = new URL(url);
  return origins.some((each) => {
    if (!each.includes("://*.")) return new URL(each).origin === origin;
    const [scheme, domain] = each.split("://*") as [string, string];
    return protocol === `${scheme}:` && host.endsWith(domain) && host.length > domain.length;
  });
};

export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === "https:" ? 443 : 80));

/** Without the brackets of IPv6 and without the dot that may end a name. */
export const hostOf = ({ hostname }: Pick<URL, "hostname">): string =>
  hostname.replace(/[[\]]/g, "").replace(/\.+$/, "");
