// What a running `gesso dev` makes of the choice of its providers: waits until it uses it, and reads its offers.
import { setTimeout as sleep } from "node:timers/promises";
import { findRunningInstance } from "../running-instance.ts";
import { loadEnvironment } from "../state.ts";
import { loadProviderChoice, providerEnvironment } from "./provider-choice.ts";
import { listProviderStatus, type ProviderStatus } from "./provider-status.ts";

const WAIT_MS = 120_000;
const POLL_MS = 250;

/** Undefined if no `gesso dev` runs on the data directory. */
export async function readRunningProviders(dataDir: string): Promise<ProviderStatus[] | undefined> {
  const running = findRunningInstance(dataDir);
  return running && listProviderStatus(running, loadProviderChoice(dataDir)).catch(() => undefined);
}

/** The same, after the server has started with the choice as it is saved now. */
export async function awaitProviders(dataDir: string): Promise<ProviderStatus[] | undefined> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(POLL_MS)) {
    if (!findRunningInstance(dataDir)) return undefined;
    // The settings are saved after the earlier server has stopped, and before the next one starts.
    const saved = loadEnvironment(dataDir);
    const wanted = Object.entries(providerEnvironment(loadProviderChoice(dataDir)));
    if (wanted.some(([name, value]) => saved[name] !== value)) continue;
    const providers = await readRunningProviders(dataDir);
    if (providers) return providers;
  }
  throw new Error("gesso dev did not start its server again within 2 minutes. Its terminal says why.");
}
