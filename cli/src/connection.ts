// Where Gesso is and who we are there: what the command line says, else the environment, else the `gesso dev` that runs here.
import { type Client, type ClientOptions, createClient } from "@gesso/client";
import { findRunningInstance } from "@gesso/dev/running-instance";
import type { Command } from "commander";
import { commandError } from "./exit-codes.ts";

export type ConnectionFlags = { url?: string; key?: string; data: string };
export type ServerConnection = { url: string; key: string };

const DEFAULT_URL = "http://127.0.0.1:7788";

export const withConnection = (command: Command): Command =>
  command
    .option("--url <address>", "URL of the server (default: GESSO_URL, or the gesso dev of this data directory)")
    .option("--key <key>", "API key (default: GESSO_API_KEY, which other users of this machine cannot see)")
    .option("--data <directory>", "where gesso dev keeps everything", "./.gesso");

export function resolveConnection({ url: address, key: keyFlag, data }: ConnectionFlags): ServerConnection {
  const runningInstance = findRunningInstance(data);
  const url = (address ?? process.env.GESSO_URL ?? "").replace(/\/+$/, "") || undefined;
  const key = keyFlag ?? process.env.GESSO_API_KEY;
  if (key) return { url: url ?? runningInstance?.url ?? DEFAULT_URL, key };
  // The key of development goes to its own server and nowhere else.
  if (runningInstance && (url === undefined || url === runningInstance.url)) return runningInstance;
  throw commandError("auth", "No API key. Set GESSO_API_KEY, or start gesso dev in this directory.");
}

/** What goes wrong is told by the command, in its own words. */
export const createCliClient = ({ url, key }: ServerConnection, fetch?: ClientOptions["fetch"]): Client =>
  createClient({ baseUrl: url, apiKey: key, logLevel: "off", ...(fetch && { fetch }) });
