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
  FETCH_ALLOW_ORIGINS: commaSeparatedList("", isOrigin, "is no origin: http://10.0.0.8:9000, for instance").describe(
    "Origins, separated by commas, that pictures may be fetched from although they are private.",
  ),
  FETCH_ALLOW_CIDRS: commaSeparatedList("", isIpRange, "is no range of addresses: 10.1.0.0/16, for instance").describe(
    "Ranges of addresses, separated by commas, that pictures may be fetched from although they are private.",
  ),
  FETCH_DENY: commaSeparatedList(
    "",
    (word) => isIpRange(word) || isHostName(word),
    "is neither a name nor a range of addresses",
  ).describe(
    "Names (with all below them) and ranges of addresses, separated by commas, that are never fetched: " +
      "your console, or public addresses of your own network. The host of PUBLIC_URL is always among them.",
  ),
  FETCH_PORTS: commaSeparatedList(DEFAULT_PORTS, isPort, "is no port")
    .transform((words) => words.map(Number))
    .describe("Ports, separated by commas, at which public machines are asked; 80, 443, 8080 and 8443 unless set."),
  FETCH_DNS_SERVERS: commaSeparatedList(
    "",
    isServer,
    "is no address of a name server: 10.0.0.2 or 10.0.0.2:53",
  ).describe("DNS servers for user-supplied host names, comma-separated. Default: the system's servers."),
  FETCHER_URL: z
    .string()
    .regex(/^(https?:\/\/|unix:\/)\S+$/, { error: "http://…, https://… or unix:/path" })
    .optional()
    .describe(
      "Where the fetcher is called that runs as a process of its own (--role fetcher); without it every process fetches.",
    ),
  FETCHER_LISTEN: z
    .string()
    .regex(/^(unix:\/\S+|\S+:\d+)$/, { error: "host:port or unix:/path" })
    .default("127.0.0.1:7787")
    .describe("Where --role fetcher listens: host:port, or unix:/path."),
  FETCHER_TOKEN: z
    .string()
    .min(32)
    .optional()
    .describe("What those who call the fetcher show it; at least 32 characters, the same in all processes."),
});

export type FetchSettings = z.output<typeof FetchEnv>;
