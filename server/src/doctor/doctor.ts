// Checks an installation without changing it: settings, dependencies, ledger, storage usage, gesso.yaml, enabled
// providers, and models without a provider.

import { modelIds } from "../contract/models.ts";
import type { Task } from "../contract/operation.ts";
import { createProviderHttpClient } from "../outbound/provider-http-client.ts";
import { providers } from "../providers/all.ts";
import type { EnabledProvider, Offer, Provider } from "../providers/provider.ts";
import type { Clock } from "../runtime/clock.ts";
import { checkDependencies, type DependencySettings } from "./check-dependencies.ts";
import { checkImportedModels } from "./check-imported-models.ts";
import { checkIsolation, type Isolation, type IsolationSettings } from "./check-isolation.ts";
import { checkModels } from "./check-models.ts";
import { checkDisabledProvider, checkProvider, type DisabledProvider } from "./check-provider.ts";
import { checkAuditLog, checkLedger, checkSetAsideEvents, checkStorageUsage } from "./check-records.ts";
import { checkStandby } from "./check-standby.ts";
import { checkWorkers } from "./check-workers.ts";
import type { DoctorCheck, DoctorReport, ProviderCheck, UnofferedModel } from "./report.ts";

/** The configuration to check. It can be incomplete. */
export type Installation = {
  settings: (DependencySettings & IsolationSettings) | undefined;
  isServer: boolean;
  missing: string[];
  catalogue: { path: string; exists: boolean; problems: string[] };
  enabledProviders: EnabledProvider[];
  disabledProviders: DisabledProvider[];
  /** A running server knows how its own decoders are isolated. */
  findIsolation?: () => Promise<Isolation>;
  /** A running server knows which addresses forward requests to it. */
  findUnnamedProxy?: () => string | undefined;
};

/** `isLive`: each upstream model of the enabled providers is looked at as well. */
export async function diagnose(
  installation: Installation,
  clock: Clock,
  { isLive = false }: { isLive?: boolean } = {},
): Promise<DoctorReport> {
  const httpClient = createProviderHttpClient(clock);
  try {
    const { settings, findIsolation, enabledProviders } = installation;
    // A request for each model is too much for a page that operators watch: only `gesso doctor` compares documents.
    const compared = findIsolation ? [] : enabledProviders;
    const [dependencies, tables, enabled] = await Promise.all([
      settings ? checkDependencies(settings, httpClient.send, clock) : [],
      Promise.all(
        settings
          ? [
              checkIsolation(settings, findIsolation),
              checkStandby(settings),
              checkWorkers(settings, httpClient.send),
              checkLedger(settings),
              checkStorageUsage(settings),
              checkAuditLog(settings, clock.now),
              checkSetAsideEvents(settings),
              checkImportedModels(settings, compared, { send: httpClient.send, clock }),
            ]
          : [],
      ),
      Promise.all(
        enabledProviders.map(async (provider) => {
          const check = await checkProvider(provider, httpClient.send, clock);
          return isLive ? withModels(provider, check, { send: httpClient.send, clock }) : check;
        }),
      ),
    ]);
    const checks = [
      ...settingsChecks(installation),
      ...proxyChecks(installation),
      ...catalogueChecks(installation),
      ...dependencies,
      ...tables,
    ];
    const all = [...enabled, ...installation.disabledProviders.map(checkDisabledProvider)];
    const ok = [...checks, ...all].every(({ status }) => status !== "fail");
    return {
      ok,
      checks,
      providers: all,
      unoffered: findUnofferedModels(installation.enabledProviders.map(({ provider }) => provider)),
    };
  } finally {
    await httpClient.close();
  }
}

async function withModels(
  provider: EnabledProvider,
  check: ProviderCheck,
  services: Parameters<typeof checkModels>[2],
): Promise<ProviderCheck> {
  const models = await checkModels(provider, check, services);
  const changed = models.filter(({ schema }) => schema === "changed");
  if (changed.length === 0 || check.status === "fail") return { ...check, models };
  const fix = "disable these offers in gesso.yaml, update Gesso, and put this report into an issue";
  return { ...check, models, status: "fail", fix: [check.fix, fix].filter(Boolean).join("; ") };
}

/** Nothing is said without a request that shows a proxy: most installations of one machine have none. */
function proxyChecks({ findUnnamedProxy }: Installation): DoctorCheck[] {
  const proxy = findUnnamedProxy?.();
  if (!proxy) return [];
  const message = `${proxy} forwards requests, and TRUSTED_PROXIES does not name it: its clients share one address and its limits`;
  return [{ name: "proxies", status: "warn", message, fix: `add ${proxy} to TRUSTED_PROXIES` }];
}

function settingsChecks({ settings, isServer, missing }: Installation): DoctorCheck[] {
  const name = "settings";
  if (settings) return [{ name, status: "pass", message: "complete" }];
  // A machine that only runs `gesso dev` has no settings: `gesso dev` creates its own.
  if (!isServer) {
    return [{ name, status: "skip", message: "DATABASE_URL and GESSO_SECRET are not set; gesso dev sets its own" }];
  }
  return [{ name, status: "fail", message: missing.join("; "), fix: "see .env.example" }];
}

function catalogueChecks({ catalogue: { path, exists, problems } }: Installation): DoctorCheck[] {
  if (problems.length > 0) {
    return problems.map((message) => ({ name: "catalogue", status: "fail", message }));
  }
  const message = exists ? `${path} is valid` : `${path} not found; using the built-in defaults`;
  return [{ name: "catalogue", status: exists ? "pass" : "skip", message }];
}

type TaskModelPair = { task: Task; model: string };
const pairKey = ({ task, model }: TaskModelPair) => `${task} ${model}`;
const isNotRetired = ({ lifecycle }: Offer) => lifecycle?.state !== "retired";

function findUnofferedModels(enabled: Provider[]): UnofferedModel[] {
  const offered = new Set(enabled.flatMap(({ offers }) => offers.filter(isNotRetired).map(pairKey)));
  const requestable: TaskModelPair[] = [
    ...modelIds.map((model) => ({ task: "image.generate" as const, model })),
    ...providers.flatMap(({ offers }) => offers.map(({ task, model }) => ({ task, model }))),
  ];
  return [...new Map(requestable.map((pair) => [pairKey(pair), pair])).values()]
    .filter((pair) => !offered.has(pairKey(pair)))
    .map((pair) => ({ ...pair, by: disabledProvidersWith(pair, enabled) }));
}

/** Disabled providers that offer the pair. */
const disabledProvidersWith = (pair: TaskModelPair, enabled: Provider[]) =>
  providers
    .filter(({ id }) => enabled.every((each) => each.id !== id))
    .filter(({ offers }) => offers.some((offer) => pairKey(offer) === pairKey(pair) && isNotRetired(offer)))
    .map(({ id }) => id);
