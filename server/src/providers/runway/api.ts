// Common parts of all requests to Runway: URL, credentials and API version.
import { z } from "zod";
import type { ProviderContext } from "../provider.ts";

export const RunwayEnv = z.object({
  RUNWAY_API_KEY: z.string().min(1).describe("API secret of Runway. Enables the provider"),
  RUNWAY_BASE_URL: z.url().default("https://api.dev.runwayml.com").describe("URL of the API"),
  RUNWAY_RESULT_HOSTS: z
    .string()
    .default("dnznrvs05pmza.cloudfront.net")
    .transform((text) => text.split(",").map((host) => host.trim().toLowerCase()))
    .refine(
      (hosts) => hosts.every((host) => /^([a-z0-9-]+\.)+[a-z]{2,}$/.test(host)),
      "must be host names without a wildcard, separated by commas",
    )
    .describe("Hosts that Runway serves results from, comma-separated. Default: the host in Runway's documentation"),
});
export type RunwayEnv = z.output<typeof RunwayEnv>;
export type RunwayContext = ProviderContext<RunwayEnv>;

const VERSION = "2024-11-06";

export const runwayApi = ({ RUNWAY_BASE_URL, RUNWAY_API_KEY }: RunwayEnv) => ({
  origin: RUNWAY_BASE_URL,
  headers: { authorization: `Bearer ${RUNWAY_API_KEY}`, "x-runway-version": VERSION },
});

export const runwayUrl = ({ env }: RunwayContext, path: string) => `${env.RUNWAY_BASE_URL.replace(/\/+$/, "")}${path}`;
