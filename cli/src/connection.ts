// Resolves the server URL and the API key: from the flags, the environment, or the `gesso dev` that runs on this
// machine.
import { type Client, type ClientOptions, createClient } from "@gesso/client";
import { findRunningInstance } from "@gesso/dev/running-instance";
import type { Command } from "commander";
import { commandError } from "./exit-codes.ts";

export type ConnectionFlags = { url?: string; key?: string; data: string };
export type ServerConnection = { url: string; key: string };

const DEFAULT_URL = "http://127.0.0.1:7788";

export const withConnection = (command: Command): Command =>
  command
    .option("--url <url>", "URL of the server (default: GESSO_URL, or the running gesso dev)")
    .option("--key <key>", "API key (default: GESSO_API_KEY, or the key of the running gesso dev)")
    .option("--data <directory>", "data directory of gesso dev", "./.gesso");

export function resolveConnection({ url: address, key: keyFlag, data }: ConnectionFlags): ServerConnection {
  const runningInstance = findRunningInstance(data);
  const url = (address ?? process.env.GESSO_URL ?? "").replace(/\/+$/, "") || undefined;
  const key = keyFlag ?? process.env.GESSO_API_KEY;
  if (key) return { url: url ?? runningInstance?.url ?? DEFAULT_URL, key };
  // The key of `gesso dev` is only sent to its own server.
  if (runningInstance && (url === undefined || url === runningInstance.url)) return runningInstance;
  throw commandError("auth", "No API key. Set GESSO_API_KEY, pass --key, or start gesso dev in this directory.");
}

/** The client's own logging is off: the command reports errors itself. */
export const createCliClient = ({ url, key }: ServerConnection, fetch?: ClientOptions["fetch"]): Client =>
  createClient({ baseUrl: url, apiKey: key, logLevel: "off", ...(fetch && { fetch }) });
