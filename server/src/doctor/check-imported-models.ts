// Compares imported models with what their providers publish today, and names those whose provider has refused an input
// that the imported schema allows. Uses only free requests, and changes nothing.
import { type ConnectionSettings, connectDatabase } from "../db/connect.ts";
import { listCheckedPins } from "../db/library/imported-models.ts";
import { importModel } from "../models/import-model.ts";
import type { EnabledProvider } from "../providers/provider.ts";
import type { Clock } from "../runtime/clock.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import { createFreeContext, type TimedSendRequest } from "./check-provider.ts";
import type { DoctorCheck } from "./report.ts";

/** Documents that are read at the same time. */
const AT_ONCE = 8;
const SHOWN = 5;

type Pin = Awaited<ReturnType<typeof listCheckedPins>>[number];

export async function checkImportedModels(
  settings: ConnectionSettings,
  enabledProviders: readonly EnabledProvider[],
  services: { send: TimedSendRequest; clock: Pick<Clock, "now" | "after"> },
): Promise<DoctorCheck> {
  const name = "imported models";
  const database = connectDatabase(settings);
  try {
    const pins = await listCheckedPins(database);
    if (pins.length === 0) return { name, status: "skip", message: "no model is imported" };
    const refused = pins.filter(({ refused_at }) => refused_at !== null).map((pin) => pin.name);
    const { changed, unread } = await compareDocuments(pins, enabledProviders, services);
    const problems = [
      ...describe(
        refused,
        "was refused an input that its schema allows",
        "were refused inputs that their schemas allow",
      ),
      ...describe(changed, "has another schema at its provider", "have other schemas at their providers"),
    ];
    const notRead = unread.length > 0 ? [`${listNames(unread)} could not be compared`] : [];
    if (problems.length === 0) {
      const message = [`${pins.length} names`, ...notRead].join("; ");
      return { name, status: "pass", message };
    }
    const fix = `gesso models sync ${[...new Set([...refused, ...changed])].slice(0, SHOWN).join(" ")}`;
    return { name, status: "warn", message: [...problems, ...notRead].join("; "), fix };
  } catch (thrown) {
    // Before the first start there is no table.
    return { name, status: "skip", message: `imported models not readable: ${rootCauseMessage(thrown)}` };
  } finally {
    await database.close();
  }
}

const listNames = (names: string[]): string =>
  `${names.slice(0, SHOWN).join(", ")}${names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ""}`;
const describe = (names: string[], one: string, several: string): string[] =>
  names.length === 0 ? [] : [`${listNames(names)} ${names.length === 1 ? one : several}`];

/**
 * Each model once, although it can have several names. Models of providers that are not given are not
 * compared.
 */
async function compareDocuments(
  pins: Pin[],
  enabledProviders: readonly EnabledProvider[],
  { send, clock }: { send: TimedSendRequest; clock: Pick<Clock, "now" | "after"> },
) {
  const changed: string[] = [];
  const unread: string[] = [];
  const waiting = [...Map.groupBy(pins, ({ model, hash }) => `${model} ${hash}`).values()];
  const compare = async (names: Pin[]) => {
    const [{ provider: id, upstream, hash }] = names as [Pin];
    const enabled = enabledProviders.find(({ provider }) => provider.id === id);
    if (!enabled?.provider.anyModel) return;
    const context = createFreeContext(enabled.env, send, clock);
    const document = await enabled.provider.anyModel.describe(upstream, context).catch(() => undefined);
    const imported = document === undefined ? undefined : importModel(id, upstream, document);
    const found = imported && "model" in imported ? imported.model.hash : undefined;
    if (found !== hash) (found === undefined ? unread : changed).push(...names.map(({ name }) => name));
  };
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await compare(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { changed: changed.toSorted(), unread: unread.toSorted() };
}
