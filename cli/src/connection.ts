// Flags of the connection, and the client of the API. See resolve-connection.ts for where URL and key come from.
import { type Client, type ClientOptions, createClient } from "@gesso/client";
import type { Command } from "commander";
import { type ConnectionFlags, DEFAULT_DATA, resolveConnection, type ServerConnection } from "./resolve-connection.ts";

export { type ConnectionFlags, resolveConnection, type ServerConnection };

export const withConnection = (command: Command): Command =>
  command
    .option("--url <url>", "URL of the server (default: GESSO_URL, the profile, or the running gesso dev)")
    .option("--key <key>", "API key (default: GESSO_API_KEY, the profile, or the running gesso dev)")
    .option("--profile <name>", "profile of gesso login (default: GESSO_PROFILE, or default)")
    .option("--data <directory>", `data directory of gesso dev (default: ${DEFAULT_DATA})`);

/** The client's own logging is off: the command reports errors itself. */
export const createCliClient = (
  { url, key }: Pick<ServerConnection, "url" | "key">,
  fetch?: ClientOptions["fetch"],
): Client => createClient({ baseUrl: url, apiKey: key, logLevel: "off", ...(fetch && { fetch }) });
