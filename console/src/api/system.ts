// The state of the installation for operators, and the connection of a provider, after which `gesso dev` starts its
// server again.
import type { ConnectedProvider, SystemReport } from "@gesso/client";
import { queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";

const POLL_MS = 15_000;
const RESTART_MS = 120_000;
const RESTART_POLL_MS = 500;

/** The state of the installation, read again every 15 s while the page is open. */
export const systemQuery = queryOptions({
  queryKey: ["system"],
  queryFn: async () => client.system.get(),
  refetchInterval: POLL_MS,
  retry: false,
});

/** Sends the key once: another try would be another decision of the person who entered it. */
export const connectProvider = (provider: string, settings: Record<string, string>): Promise<ConnectedProvider> =>
  client.system.connectProvider(provider, { settings }, { maxRetries: 0 });

/** The report of the server that starts after the one of `startedAt`. Undefined if none does within 2 minutes. */
export async function awaitNewServer(startedAt: string): Promise<SystemReport | undefined> {
  for (const end = Date.now() + RESTART_MS; Date.now() < end; await sleep(RESTART_POLL_MS)) {
    // Nothing responds between the two servers.
    const report = await client.system.get({ maxRetries: 0 }).catch(() => undefined);
    if (report && report.started_at !== startedAt) return report;
  }
  return undefined;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
