// Looks at an installation without changing anything: settings, parts, books, the operator's file, every provider that is
// switched on, and which models callers could ask for in vain.
import type { Task } from "../kit/operation.ts";
import { createSender } from "../media/send.ts";
import { modelIds } from "../models.ts";
import { providers } from "../providers/all.ts";
import type { Offer, Provider } from "../providers/provider.ts";
import { examineBooks } from "./books.ts";
import { examineProvider, type Live, type Off, offCheck } from "./examine.ts";
import { checkParts, type PartSettings } from "./parts.ts";
import type { Check, Report, Unoffered } from "./report.ts";

/** What there is to look at. It need not be enough for a server to start. */
export type Patient = {
  settings: PartSettings | undefined;
  isServer: boolean;
  missing: string[];
  catalogue: { path: string; isThere: boolean; complaints: string[] };
  live: Live[];
  off: Off[];
};

export async function examine(patient: Patient): Promise<Report> {
  const sender = createSender();
  try {
    const { settings } = patient;
    const [parts, books, examined] = await Promise.all([
      settings ? checkParts(settings, sender.send) : [],
      Promise.all(settings ? [examineBooks(settings)] : []),
      Promise.all(patient.live.map((live) => examineProvider(live, sender.send))),
    ]);
    const checks = [...settingsChecks(patient), ...catalogueChecks(patient), ...parts, ...books];
    const all = [...examined, ...patient.off.map(offCheck)];
    const ok = [...checks, ...all].every(({ status }) => status !== "fail");
    return { ok, checks, providers: all, unoffered: unofferedBy(patient.live.map(({ provider }) => provider)) };
  } finally {
    await sender.close();
  }
}

function settingsChecks({ settings, isServer, missing }: Patient): Check[] {
  const name = "settings";
  if (settings) return [{ name, status: "pass", message: "complete" }];
  // A machine on which only `gesso dev` runs has none of its own: gesso dev makes them.
  if (!isServer) {
    return [{ name, status: "skip", message: "DATABASE_URL and GESSO_SECRET are not set; gesso dev sets its own" }];
  }
  return [{ name, status: "fail", message: missing.join("; "), fix: "see .env.example" }];
}

function catalogueChecks({ catalogue: { path, isThere, complaints } }: Patient): Check[] {
  if (complaints.length > 0) {
    return complaints.map((message) => ({ name: "catalogue", status: "fail", message }));
  }
  const message = isThere ? `${path} is right` : `there is no ${path}; every provider is as it comes`;
  return [{ name: "catalogue", status: isThere ? "pass" : "skip", message }];
}

type Pair = { task: Task; model: string };
const nameOf = ({ task, model }: Pair) => `${task} ${model}`;
const isAlive = ({ lifecycle }: Offer) => lifecycle?.state !== "retired";

function unofferedBy(live: Provider[]): Unoffered[] {
  const offered = new Set(live.flatMap(({ offers }) => offers.filter(isAlive).map(nameOf)));
  const asked: Pair[] = [
    ...modelIds.map((model) => ({ task: "image.generate" as const, model })),
    ...providers.flatMap(({ offers }) => offers.map(({ task, model }) => ({ task, model }))),
  ];
  return [...new Map(asked.map((pair) => [nameOf(pair), pair])).values()]
    .filter((pair) => !offered.has(nameOf(pair)))
    .map((pair) => ({ ...pair, by: whoWould(pair, live) }));
}

/** Providers that offer it and are off. One that is on and does not offer it any more would not help. */
const whoWould = (pair: Pair, live: Provider[]) =>
  providers
    .filter(({ id }) => live.every((each) => each.id !== id))
    .filter(({ offers }) => offers.some((offer) => nameOf(offer) === nameOf(pair) && isAlive(offer)))
    .map(({ id }) => id);
