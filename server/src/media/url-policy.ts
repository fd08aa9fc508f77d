// Which addresses of the world may be asked for anything: public ones, by the web's usual doors, and what an operator adds.
// It is told in two steps, before names are looked up and of the address that a name leads to, and both must agree.
import { isIP } from "node:net";
import { Fault } from "../faults.ts";
import { isPublicAddress, isRange, rangesOf } from "./addresses.ts";

const LONGEST_URL = 8192;
const LONGEST_NAME = 253;
const USUAL_PORTS = [80, 443, 8080, 8443];
/** Names that mean something only inside somebody's network, or outside of the internet's own names. */
const INNER_NAMES = [
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
const AMBIGUOUS = /[\p{Cc}\\]/u;

export type Refusal = "url" | "scheme" | "credentials" | "port" | "host" | "address" | "downgrade" | "foreign_address";

export const notAllowed = (reason: Refusal): Fault => new Fault("url_not_allowed", { reason });

export type PolicySettings = {
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
  isAllowed(address: string): boolean;
};

export const createUrlPolicy = ({
  allowRanges = [],
  deny = [],
  ports = USUAL_PORTS,
}: PolicySettings = {}): UrlPolicy => {
  const isAdded = rangesOf(allowRanges);
  const isDenied = rangesOf(deny.filter(isRange));
  const innerNames = [...INNER_NAMES, ...deny.filter((each) => !isRange(each)).map(toName)];
  const isAllowed = (address: string) => !isDenied(address) && (isPublicAddress(address) || isAdded(address));

  const checkName = (name: string): void => {
    if (!name.includes(".") || name.length > LONGEST_NAME) throw notAllowed("host");
    if (innerNames.some((inner) => name === inner || name.endsWith(`.${inner}`))) throw notAllowed("host");
  };
  return {
    isAllowed,
    check: (url) => {
      if (!ports.includes(portOf(url))) throw notAllowed("port");
      const host = hostOf(url);
      if (isIP(host) === 0) return checkName(host);
      if (!isAllowed(host)) throw notAllowed("address");
    },
  };
};

/** A name of a host: its last part is no number, or it would be an address in disguise. */
export const isName = (text: string): boolean => /^([a-z\d-]+\.)*[a-z\d-]*[a-z-][a-z\d-]*$/i.test(text);

const toName = (text: string): string => {
  if (!isName(text)) throw new Error(`${text} is neither a name nor a range of addresses.`);
  return text.toLowerCase();
};

/** Reads an address once, by the rules that the request itself will follow, and refuses what is not the web. */
export const parseWebUrl = (text: string, from?: URL): URL => {
  if (text.length > LONGEST_URL || AMBIGUOUS.test(text)) throw notAllowed("url");
  const url = URL.parse(text, from);
  if (!url) throw notAllowed("url");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw notAllowed("scheme");
  if (url.username !== "" || url.password !== "") throw notAllowed("credentials");
  return url;
};

/** `https://*.example.com` stands for every host below the domain. */
export const isWithin = (url: string, origins: readonly string[]): boolean => {
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
