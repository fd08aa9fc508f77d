// Lays the operator's file over what the providers say of themselves. In the result the operator's order has become numbers,
// and whatever may no longer be chosen is marked as retired: only runs that have it already still find it there.
import { modelIds } from "../models.ts";
import type { Offer, Provider } from "../providers/provider.ts";
import { disguised } from "./disguise.ts";
import type { CatalogueFile, Complaint, Line, Path } from "./file.ts";
import { type Day, standing } from "./lifecycle.ts";
import { alike, changed, likened, type Misfit, meant } from "./line.ts";
import { suggestion } from "./nearest.ts";

/** An offer on its way: which one it was, or is made like, and by which line of its model it was named. */
type Entry = { provider: Provider; from?: Offer; like?: Offer; offer: Offer; line?: number; isOff?: boolean };

const USUAL_PREFERENCE = 50;

export function applyCatalogue(
  providers: Provider[],
  file: CatalogueFile,
  today: Day,
): { providers: Provider[]; complaints: Complaint[] } {
  const complaints: Complaint[] = [];
  const ids = providers.map(({ id }) => id);
  for (const { id, path } of file.providers.filter((each) => !ids.includes(each.id))) {
    complaints.push({ path, says: `unknown provider ${id}${suggestion(id, ids)}`, at: "key" });
  }
  const settled = providers.map((provider) => settle(provider, file));
  const entries: Entry[] = settled.flatMap((provider) =>
    provider.offers.map((offer) => ({ provider, from: offer, offer })),
  );
  const known = pairsOf(entries.map(({ offer }) => offer));
  for (const { model, path, lines } of file.models) {
    if (!known.models.has(model)) {
      complaints.push({ path, says: `unknown model ${model}${suggestion(model, [...known.models])}`, at: "key" });
      continue;
    }
    for (const [place, { line, path: at }] of lines.entries()) {
      const misfit = applyLine(entries, { providers: settled, isAsked: known.isAsked }, { model, line, place });
      if (misfit) complaints.push({ path: misfit.at ? [...at, misfit.at] : at, says: misfit.says });
    }
  }
  complaints.push(...twins(entries, file));
  const live = entries.filter((entry) => !entry.isOff).map((entry) => aged(entry, today));
  const ordered = inOrder(live.filter(({ offer }) => offer.lifecycle?.state !== "retired"));
  const isOff = (id: string) => file.providers.some((each) => each.id === id && each.settings.enabled === false);
  return {
    providers: settled
      .filter(({ id }) => !isOff(id))
      .map((provider) => {
        const own = ordered.filter((entry) => entry.provider === provider);
        const disguises = own.flatMap(({ offer, like }) => (like ? [{ offer, like }] : []));
        const former = formerOf(
          entries.filter((entry) => entry.provider === provider),
          own,
        );
        return { ...disguised(provider, disguises), offers: [...own.map(({ offer }) => offer), ...former] };
      }),
    complaints,
  };
}

/** A provider with the operator's own figures. A place that the operator gives it holds for all that it offers. */
function settle(provider: Provider, file: CatalogueFile): Provider {
  const settings = file.providers.find(({ id }) => id === provider.id)?.settings;
  if (!settings) return provider;
  const { concurrent = provider.pace?.concurrent, per_minute = provider.pace?.perMinute, preference } = settings;
  const pace = { ...(concurrent && { concurrent }), ...(per_minute && { perMinute: per_minute }) };
  const unplaced = (offer: Offer): Offer => ({ ...offer, preference: undefined });
  return {
    ...provider,
    pace,
    ...(preference !== undefined && { preference, offers: provider.offers.map(unplaced) }),
  };
}

/** What can be asked at all: whatever somebody offers, and every model that callers may name. */
function pairsOf(offers: Offer[]) {
  const pairs = new Set([
    ...offers.map(({ task, model }) => `${task} ${model}`),
    ...modelIds.map((model) => `image.generate ${model}`),
  ]);
  return {
    models: new Set<string>([...modelIds, ...offers.map(({ model }) => model)]),
    isAsked: ({ task, model }: Offer) => pairs.has(`${task} ${model}`),
  };
}

type Known = { providers: Provider[]; isAsked: (offer: Offer) => boolean };
type Placed = { model: string; line: Line; place: number };

/** Changes the entries as the line says; what cannot be is answered. */
function applyLine(entries: Entry[], known: Known, { model, line, place }: Placed): Misfit | undefined {
  const provider = known.providers.find(({ id }) => id === line.provider);
  if (!provider) {
    const ids = known.providers.map(({ id }) => id);
    return { at: "provider", says: `unknown provider ${line.provider}${suggestion(line.provider, ids)}` };
  }
  const { isAsked } = known;
  const isNew = line.like !== undefined;
  const found = isNew ? alike(provider, { model, line, isAsked }) : meant(provider, model, line);
  if ("says" in found) return found;
  for (const each of found) {
    const offer = changed(isNew ? likened(each, model) : each, line);
    if ("says" in offer) return offer;
    const named = { provider, offer, line: place, isOff: line.enabled === false };
    const entry = isNew ? undefined : entries.find(({ from }) => from === each);
    if (entry?.line !== undefined) return { says: `${provider.id}'s ${each.as} for ${model} has a line already` };
    if (entry) Object.assign(entry, named);
    else entries.push({ ...named, like: each });
  }
  return undefined;
}

/** A run remembers its offer by provider and upstream name, so one model cannot have two of the same. */
function twins(entries: Entry[], file: CatalogueFile): Complaint[] {
  const isSame = (a: Entry, b: Entry) => a.provider === b.provider && nameOf(a.offer) === nameOf(b.offer);
  return entries.flatMap((entry, index) => {
    const first = entries.findIndex((other) => isSame(other, entry));
    const { line } = entry.line === undefined ? entries[first]! : entry;
    if (first === index || line === undefined) return [];
    const { model, as } = entry.offer;
    const path: Path = [...file.models.find((each) => each.model === model)!.lines[line]!.path, "as"];
    return [{ path, says: `${entry.provider.id} has two offers of ${model} with the name ${as}` }];
  });
}

const nameOf = ({ task, model, as }: Offer) => [task, model, as].join(" ");

/** Offers as they come that are not there any more: jobs that were sent under their names must still be asked about. */
function formerOf(entries: Entry[], live: Entry[]): Offer[] {
  const names = new Set(live.map(({ offer }) => nameOf(offer)));
  return entries
    .flatMap(({ from }) => (from && !names.has(nameOf(from)) ? [from] : []))
    .map((offer) => ({ ...offer, lifecycle: { ...offer.lifecycle, state: "retired" } }));
}

const aged = (entry: Entry, today: Day): Entry => ({
  ...entry,
  offer: entry.offer.lifecycle ? { ...entry.offer, lifecycle: standing(entry.offer, today) } : entry.offer,
});

/** Where a model has lines, all its offers are numbered anew: those with a line by their lines, then the others as before. */
function inOrder(entries: Entry[]): Entry[] {
  const preferenceOf = ({ provider, offer }: Entry) => offer.preference ?? provider.preference ?? USUAL_PREFERENCE;
  const placeOf = ({ line }: Entry) => line ?? Number.MAX_SAFE_INTEGER;
  return entries.map((entry) => {
    const rivals = entries.filter(({ offer }) => offer.task === entry.offer.task && offer.model === entry.offer.model);
    if (rivals.every(({ line }) => line === undefined)) return entry;
    const sorted = rivals.sort((a, b) => placeOf(a) - placeOf(b) || preferenceOf(a) - preferenceOf(b));
    return { ...entry, offer: { ...entry.offer, preference: sorted.indexOf(entry) + 1 } };
  });
}
