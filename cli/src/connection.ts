// Where Gesso is and who we are there: what the command line says, else the environment, else the `gesso dev` that runs here.
import { type Client, type ClientOptions, createClient } from "@gesso/client";
import { runningGesso } from "@gesso/dev/running";
import type { Command } from "commander";
import { refused } from "./exit.ts";

export type ConnectionFlags = { url?: string; key?: string; data: string };
export type Place = { url: string; key: string };

const LOCAL = "http://127.0.0.1:7788";

export const withConnection = (command: Command): Command =>
  command
    .option("--url <address>", "where Gesso is (default: GESSO_URL, or the gesso dev that runs here)")
    .option("--key <key>", "API key (default: GESSO_API_KEY, which other users of this machine cannot see)")
    .option("--data <directory>", "where gesso dev keeps everything", "./.gesso");

export function placeOf({ url: address, key: given, data }: ConnectionFlags): Place {
  const here = runningGesso(data);
  const url = (address ?? process.env.GESSO_URL ?? "").replace(/\/+$/, "") || undefined;
  const key = given ?? process.env.GESSO_API_KEY;
  if (key) return { url: url ?? here?.url ?? LOCAL, key };
  // The key of development goes to its own server and nowhere else.
  if (here && (url === undefined || url === here.url)) return here;
  throw refused("auth", "There is no key. Set GESSO_API_KEY, or start gesso dev in this folder.");
}

/** What goes wrong is told by the command, in its own words. */
export const clientOf = ({ url, key }: Place, fetch?: ClientOptions["fetch"]): Client =>
  createClient({ baseUrl: url, apiKey: key, logLevel: "off", ...(fetch && { fetch }) });
