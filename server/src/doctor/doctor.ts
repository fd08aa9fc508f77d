// Looks at an installation without changing anything: settings, parts, books, the operator's file, every provider that is
// switched on, and which models callers could ask for in vain.
import type { Task } from "../kit/operation.ts";
import { modelIds } from "../models.ts";
import { createProviderHttpClient } from "../outbound/provider-http-client.ts";
import { providers } from "../providers/all.ts";
import type { Offer, Provider } from "../providers/provider.ts";
import { checkDependencies, type DependencySettings } from "./check-dependencies.ts";
import { checkLedger } from "./check-ledger.ts";
import { checkDisabledProvider, checkProvider, type DisabledProvider, type EnabledProvider } from "./check-provider.ts";
import type { DoctorCheck, DoctorReport, UnofferedModel } from "./report.ts";

/** What there is to look at. It need not be enough for a server to start. */
export type Installation = {
  settings: DependencySettings | undefined;
  isServer: boolean;
  missing: string[];
  catalogue: { path: string; exists: boolean; problems: string[] };
  enabledProviders: EnabledProvider[];
  disabledProviders: DisabledProvider[];
};

export async function diagnose(patient: Installation): Promise<DoctorReport> {
  const sender = createProviderHttpClient();
  try {
    const { settings } = patient;
    const [parts, books, examined] = await Promise.all([
      settings ? checkDependencies(settings, sender.send) : [],
      Promise.all(settings ? [checkLedger(settings)] : []),
      Promise.all(patient.enabledProviders.map((live) => checkProvider(live, sender.send))),
    ]);
    const checks = [...settingsChecks(patient), ...catalogueChecks(patient), ...parts, ...books];
    const all = [...examined, ...patient.disabledProviders.map(checkDisabledProvider)];
    const ok = [...checks, ...all].every(({ status }) => status !== "fail");
    return {
      ok,
      checks,
      providers: all,
      unoffered: findUnofferedModels(patient.enabledProviders.map(({ provider }) => provider)),
    };
  } finally {
    await sender.close();
  }
}

function settingsChecks({ settings, isServer, missing }: Installation): DoctorCheck[] {
  const name = "settings";
  if (settings) return [{ name, status: "pass", message: "complete" }];
  // A machine on which only `gesso dev` runs has none of its own: gesso dev makes them.
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
const nameOf = ({ task, model }: TaskModelPair) => `${task} ${model}`;
const isAlive = ({ lifecycle }: Offer) => lifecycle?.state !== "retired";

function findUnofferedModels(live: Provider[]): UnofferedModel[] {
  const offered = new Set(live.flatMap(({ offers }) => offers.filter(isAlive).map(nameOf)));
  const asked: TaskModelPair[] = [
    ...modelIds.map((model) => ({ task: "image.generate" as const, model })),
    ...providers.flatMap(({ offers }) => offers.map(({ task, model }) => ({ task, model }))),
  ];
  return [...new Map(asked.map((pair) => [nameOf(pair), pair])).values()]
    .filter((pair) => !offered.has(nameOf(pair)))
    .map((pair) => ({ ...pair, by: providersThatWould(pair, live) }));
}

/** Providers that offer it and are off. One that is on and does not offer it any more would not help. */
const providersThatWould = (pair: TaskModelPair, live: Provider[]) =>
  providers
    .filter(({ id }) => live.every((each) => each.id !== id))
    .filter(({ offers }) => offers.some((offer) => nameOf(offer) === nameOf(pair) && isAlive(offer)))
    .map(({ id }) => id);
