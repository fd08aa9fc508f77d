// URL policy against SSRF: http(s), usual ports and public IP addresses, plus what the operator allows. Checked twice:
// on the URL before DNS, and on the IP address of the connection. Both must pass.
import { isIP } from "node:net";
import { Fault } from "../faults/faults.ts";
import { createIpRangeMatcher, isIpRange, isPublicIp } from "./ip-ranges.ts";

const LONGEST_URL = 8192;
const MAX_HOST_LENGTH = 253;
const USUAL_PORTS = [80, 443, 8080, 8443];
/** Top-level names for private networks and special uses. */
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
/** Characters that URL parsers treat differently, so that check and connection could disagree on the host. */
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

/** With several reasons, `details.reasons` has them all, so that a caller mends them at once. */
export const urlNotAllowed = (...reasons: [UrlRefusalReason, ...UrlRefusalReason[]]): Fault =>
  new Fault("url_not_allowed", { reason: reasons[0], ...(reasons.length > 1 && { reasons }) });

export type UrlPolicySettings = {
  /** Private IP ranges that are allowed. */
  allowRanges?: readonly string[];
  /** Host names (with subdomains) and IP ranges that are always denied. */
  deny?: readonly string[];
  ports?: readonly number[];
};

export type UrlPolicy = {
  /** Checks the URL before DNS. Throws `url_not_allowed`. */
  check(url: URL): void;
  /** Why the URL is refused before DNS, the host first: another port does not help if the host is internal. */
  listRefusals(url: URL): UrlRefusalReason[];
  /** Checks the IP address of the connection. */
  isAllowedIp(address: string): boolean;
};

export const createUrlPolicy = ({
  allowRanges = [],
  deny = [],
  ports = USUAL_PORTS,
}: UrlPolicySettings = {}): UrlPolicy => {
  const isAdded = createIpRangeMatcher(allowRanges);
  const isDenied = createIpRangeMatcher(deny.filter(isIpRange));
  const internalNames = [...PRIVATE_HOST_SUFFIXES, ...deny.filter((each) => !isIpRange(each)).map(toName)];
  const isAllowed = (address: string) => !isDenied(address) && (isPublicIp(address) || isAdded(address));

  const isInternal = (name: string): boolean =>
    !name.includes(".") ||
    name.length > MAX_HOST_LENGTH ||
    internalNames.some((internal) => name === internal || name.endsWith(`.${internal}`));
  const listRefusals = (url: URL): UrlRefusalReason[] => {
    const host = hostOf(url);
    const isName = isIP(host) === 0;
    const refusals: UrlRefusalReason[] = [];
    if (isName && isInternal(host)) refusals.push("host");
    if (!isName && !isAllowed(host)) refusals.push("address");
    if (!ports.includes(portOf(url))) refusals.push("port");
    return refusals;
  };
  return {
    isAllowedIp: isAllowed,
    listRefusals,
    check: (url) => {
      const [first, ...others] = listRefusals(url);
      if (first) throw urlNotAllowed(first, ...others);
    },
  };
};

/** A host name. Its last label is not a number, otherwise it would be a disguised IP address. */
export const isHostName = (text: string): boolean => /^([a-z\d-]+\.)*[a-z\d-]*[a-z-][a-z\d-]*$/i.test(text);

const toName = (text: string): string => {
  if (!isHostName(text)) throw new Error(`${text} is neither a name nor a range of addresses.`);
  return text.toLowerCase();
};

/** Parses a URL with the parser that the request uses, and refuses anything but http and https. */
export const parseWebUrl = (text: string, from?: URL): URL => {
  if (text.length > LONGEST_URL || AMBIGUOUS_CHARACTERS.test(text)) throw urlNotAllowed("url");
  const url = URL.parse(text, from);
  if (!url) throw urlNotAllowed("url");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw urlNotAllowed("scheme");
  if (url.username !== "" || url.password !== "") throw urlNotAllowed("credentials");
  return url;
};

/** `https://*.example.com` matches every subdomain of example.com. */
export const isAllowedOrigin = (url: string, origins: readonly string[]): boolean => {
  const { protocol, host, origin } = new URL(url);
  return origins.some((each) => {
    if (!each.includes("://*.")) return new URL(each).origin === origin;
    const [scheme, domain] = each.split("://*") as [string, string];
    return protocol === `${scheme}:` && host.endsWith(domain) && host.length > domain.length;
  });
};

export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === "https:" ? 443 : 80));

/** The host without IPv6 brackets and without a trailing dot. The lookbehind keeps the time linear in many dots. */
export const hostOf = ({ hostname }: Pick<URL, "hostname">): string =>
  hostname.replace(/[[\]]/g, "").replace(/(?<!\.)\.+$/, "");
