// What an operator may say about fetching: what is allowed besides the public web, what is not, and whether a process of its
// own does it.
import { isIP } from "node:net";
import { z } from "zod";
import { isIpRange } from "./ip-ranges.ts";
import { isHostName } from "./url-policy.ts";

const DEFAULT_PORTS = "80,443,8080,8443";

/** A list in one line, each of its words looked at when the program starts and not when the first picture is fetched. */
const commaSeparatedList = (preset: string, isRight: (word: string) => boolean, says: string) =>
  z
    .string()
    .default(preset)
    .transform((text, context) => {
      const words = text.split(",").map((word) => word.trim());
      return words.filter(Boolean).map((word) => {
        if (!isRight(word)) context.addIssue({ code: "custom", message: `${word} ${says}` });
        return word;
      });
    });

const isOrigin = (word: string) => ["http:", "https:"].includes(URL.parse(word)?.protocol ?? "");
const isPort = (word: string) => /^\d{1,5}$/.test(word) && Number(word) >= 1 && Number(word) <= 65_535;
const isServer = (word: string) => isIP(word.replace(/:\d+$/, "").replace(/^\[|\]$/g, "")) !== 0 || isIP(word) !== 0;

export const FetchEnv = z.object({
  FETCH_ALLOW_ORIGINS: commaSeparatedList("", isOrigin, "is not an origin such as http://10.0.0.8:9000").describe(
    "Private origins that Gesso may fetch images from, comma-separated. Default: none.",
  ),
  FETCH_ALLOW_CIDRS: commaSeparatedList("", isIpRange, "is not an IP range such as 10.1.0.0/16").describe(
    "Private IP ranges that Gesso may fetch images from, comma-separated. Default: none.",
  ),
  FETCH_DENY: commaSeparatedList(
    "",
    (word) => isIpRange(word) || isHostName(word),
    "is neither a host name nor an IP range",
  ).describe(
    "Host names (with their subdomains) and IP ranges that Gesso never fetches from, comma-separated, such as public " +
      "addresses of your own network. The host of PUBLIC_URL is always denied.",
  ),
  FETCH_PORTS: commaSeparatedList(DEFAULT_PORTS, isPort, "is not a port")
    .transform((words) => words.map(Number))
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
