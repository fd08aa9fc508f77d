// Starts the fetcher that is a process of its own, at a port or at a socket in the file system.
import { chmod, rm } from "node:fs/promises";
import { createLocalFetcher } from "./create-url-fetcher.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createFetcherServer } from "./fetcher-server.ts";

/** Fetches that are under way get this long. */
const STOP_MS = 30_000;

type Settings = FetchSettings & { FETCHER_TOKEN: string; PUBLIC_URL: string };

export async function startFetcher(settings: Settings): Promise<{ stop(): Promise<void> }> {
  const fetcher = createLocalFetcher(settings, settings.PUBLIC_URL);
  const server = createFetcherServer({ fetcher, token: settings.FETCHER_TOKEN });
  const where = settings.FETCHER_LISTEN;
  const path = where.startsWith("unix:") ? where.slice("unix:".length) : undefined;
  // The socket of a process that was killed stays behind and would be in the way.
  if (path) await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (path) return server.listen(path, resolve);
    const { hostname, port } = new URL(`http://${where}`);
    server.listen(Number(port || 80), hostname.replace(/^\[|\]$/g, ""), resolve);
  });
  // Those who may call belong to the same group; the token is asked for all the same.
  if (path) await chmod(path, 0o660);
  return {
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    },
  };
}
