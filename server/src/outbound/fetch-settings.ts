// Settings of URL fetching: exceptions from the public web, denied hosts, and the separate fetcher process.
import { isIP } from "node:net";
import { z } from "zod";
import { isIpRange } from "./ip-ranges.ts";
import { isHostName } from "./url-policy.ts";

const DEFAULT_PORTS = "80,443,8080,8443";

/** A comma-separated list; `none` is no item. Invalid items are reported at start, not at the first fetch. */
const commaSeparatedList = (defaultText: string, isValid: (item: string) => boolean, message: string) =>
  z
    .string()
    .default(defaultText)
    .transform((text, context) => {
      const items = text.split(",").map((item) => item.trim());
      return items
        .filter((item) => item !== "" && item !== "none")
        .map((item) => {
          if (!isValid(item)) context.addIssue({ code: "custom", message: `${item} ${message}` });
          return item;
        });
    });

const isOrigin = (text: string) => ["http:", "https:"].includes(URL.parse(text)?.protocol ?? "");
const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
const isServer = (text: string) => isIP(text.replace(/:\d+$/, "").replace(/^\[|\]$/g, "")) !== 0 || isIP(text) !== 0;

/** A setting with IP ranges that are allowed although they are private. */
export const ipRangeList = () => commaSeparatedList("", isIpRange, "is not an IP range such as 10.1.0.0/16");

export const FetchEnv = z.object({
  FETCH_ALLOW_ORIGINS: commaSeparatedList("", isOrigin, "is not an origin such as http://10.0.0.8:9000").describe(
    "Private origins that Gesso may fetch images from, comma-separated. Default: none.",
  ),
  FETCH_ALLOW_CIDRS: ipRangeList().describe(
    "Private IP ranges that Gesso may fetch images from, comma-separated. Default: none.",
  ),
  FETCH_DENY: commaSeparatedList(
    "",
    (text) => isIpRange(text) || isHostName(text),
    "is neither a host name nor an IP range",
  ).describe(
    "Host names (with their subdomains) and IP ranges that Gesso never fetches from, comma-separated, such as public " +
      "addresses of your own network. The host of PUBLIC_URL is always denied.",
  ),
  FETCH_PORTS: commaSeparatedList(DEFAULT_PORTS, isPort, "is not a port")
    .transform((items) => items.map(Number))
    .describe("Allowed ports of public hosts, comma-separated. Default: 80, 443, 8080 and 8443."),
  FETCH_DNS_SERVERS: commaSeparatedList("", isServer, "is not a DNS server such as 10.0.0.2 or 10.0.0.2:53").describe(
    "DNS servers for user-supplied host names, comma-separated. Default: the system's servers.",
  ),
  FETCHER_URL: z
    .string()
    .regex(/^(https?:\/\/|unix:\/)\S+$/, { error: "must be http://…, https://… or unix:/path" })
    .optional()
    .describe("URL of a separate fetcher process (--role fetcher). Default: every process fetches itself."),
  FETCHER_LISTEN: z
    .string()
    .regex(/^(unix:\/\S+|\S+:\d+)$/, { error: "must be host:port or unix:/path" })
    .default("127.0.0.1:7787")
    .describe("Address that --role fetcher listens on: host:port or unix:/path."),
  FETCHER_TOKEN: z
    .string()
    .min(32)
    .optional()
    .describe("Shared token of the fetcher and its clients. At least 32 characters."),
});

export type FetchSettings = z.output<typeof FetchEnv>;
