// Starts the server of the separate fetcher process, on a TCP port or a Unix socket.
import { chmod, rm } from "node:fs/promises";
import type { Clock } from "../runtime/clock.ts";
import { createLocalFetcher } from "./create-url-fetcher.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { createFetcherServer } from "./fetcher-server.ts";

/** Time for running fetches to finish at shutdown. */
const STOP_MS = 30_000;

type Settings = FetchSettings & { FETCHER_TOKEN: string; PUBLIC_URL: string };

export async function startFetcher(settings: Settings, clock: Clock): Promise<{ stop(): Promise<void> }> {
  const fetcher = createLocalFetcher(settings, settings.PUBLIC_URL, clock);
  const server = createFetcherServer({ fetcher, token: settings.FETCHER_TOKEN });
  const where = settings.FETCHER_LISTEN;
  const path = where.startsWith("unix:") ? where.slice("unix:".length) : undefined;
  // A killed process leaves its socket file behind, which would block listening.
  if (path) await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (path) return server.listen(path, resolve);
    const { hostname, port } = new URL(`http://${where}`);
    server.listen(Number(port || 80), hostname.replace(/^\[|\]$/g, ""), resolve);
  });
  // Only processes of the same group can connect. They need the token as well.
  if (path) await chmod(path, 0o660);
  return {
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.race([closed, new Promise<void>((resolve) => clock.after(STOP_MS, resolve).unref())]);
    },
  };
}
