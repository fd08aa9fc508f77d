// Applies gesso.yaml to the providers' built-in offers. The order of entries becomes preferences. Offers that must no longer be selected
// are marked retired, so that existing runs can still use them.
import { modelIds } from "../models.ts";
import type { Offer, Provider } from "../providers/provider.ts";
import {
  applyEntryToOffer,
  type EntryProblem,
  findTargetOffers,
  findTemplateOffers,
  offerFromTemplate,
} from "./catalogue-entry.ts";
import type { CatalogueEntry, CatalogueFile, CatalogueProblem, YamlPath } from "./catalogue-schema.ts";
import { suggestName } from "./did-you-mean.ts";
import { effectiveLifecycle, type IsoDate } from "./lifecycle.ts";
import { withTemplateModels } from "./template-models.ts";

/** An offer on its way: which one it was, or is made like, and by which line of its model it was named. */
type OfferDraft = { provider: Provider; from?: Offer; like?: Offer; offer: Offer; line?: number; isOff?: boolean };

const USUAL_PREFERENCE = 50;

export function applyCatalogue(
  providers: Provider[],
  file: CatalogueFile,
  today: IsoDate,
): { providers: Provider[]; problems: CatalogueProblem[] } {
  const problems: CatalogueProblem[] = [];
  const ids = providers.map(({ id }) => id);
  for (const { id, path } of file.providers.filter((each) => !ids.includes(each.id))) {
    problems.push({ path, message: `unknown provider ${id}${suggestName(id, ids)}`, at: "key" });
  }
  const settled = providers.map((provider) => applyProviderSettings(provider, file));
  const entries: OfferDraft[] = settled.flatMap((provider) =>
    provider.offers.map((offer) => ({ provider, from: offer, offer })),
  );
  const known = requestablePairs(entries.map(({ offer }) => offer));
  for (const { model, path, entries: lines } of file.models) {
    if (!known.models.has(model)) {
      problems.push({ path, message: `unknown model ${model}${suggestName(model, [...known.models])}`, at: "key" });
      continue;
    }
    for (const [place, { line, path: at }] of lines.entries()) {
      const problem = applyEntry(entries, { providers: settled, isRequestable: known.isAsked }, { model, line, place });
      if (problem) problems.push({ path: problem.at ? [...at, problem.at] : at, message: problem.message });
    }
  }
  problems.push(...findDuplicateOffers(entries, file));
  const live = entries.filter((entry) => !entry.isOff).map((entry) => withEffectiveLifecycle(entry, today));
  const ordered = assignPreferences(live.filter(({ offer }) => offer.lifecycle?.state !== "retired"));
  const isOff = (id: string) => file.providers.some((each) => each.id === id && each.settings.enabled === false);
  return {
    providers: settled
      .filter(({ id }) => !isOff(id))
      .map((provider) => {
        const own = ordered.filter((entry) => entry.provider === provider);
        const disguises = own.flatMap(({ offer, like }) => (like ? [{ offer, like }] : []));
        const former = retiredOffers(
          entries.filter((entry) => entry.provider === provider),
          own,
        );
        return { ...withTemplateModels(provider, disguises), offers: [...own.map(({ offer }) => offer), ...former] };
      }),
    problems,
  };
}

/** A provider with the operator's own figures. A place that the operator gives it holds for all that it offers. */
function applyProviderSettings(provider: Provider, file: CatalogueFile): Provider {
  const settings = file.providers.find(({ id }) => id === provider.id)?.settings;
  if (!settings) return provider;
  const {
    concurrent = provider.rateLimit?.concurrent,
    per_minute = provider.rateLimit?.perMinute,
    preference,
  } = settings;
  const pace = { ...(concurrent && { concurrent }), ...(per_minute && { perMinute: per_minute }) };
  const unplaced = (offer: Offer): Offer => ({ ...offer, preference: undefined });
  return {
    ...provider,
    rateLimit: pace,
    ...(preference !== undefined && { preference, offers: provider.offers.map(unplaced) }),
  };
}

/** What can be asked at all: whatever somebody offers, and every model that callers may name. */
function requestablePairs(offers: Offer[]) {
  const pairs = new Set([
    ...offers.map(({ task, model }) => `${task} ${model}`),
    ...modelIds.map((model) => `image.generate ${model}`),
  ]);
  return {
    models: new Set<string>([...modelIds, ...offers.map(({ model }) => model)]),
    isAsked: ({ task, model }: Offer) => pairs.has(`${task} ${model}`),
  };
}

type CatalogueScope = { providers: Provider[]; isRequestable: (offer: Offer) => boolean };
type PlacedEntry = { model: string; line: CatalogueEntry; place: number };

/** Changes the entries as the line message; what cannot be is answered. */
function applyEntry(
  entries: OfferDraft[],
  known: CatalogueScope,
  { model, line, place }: PlacedEntry,
): EntryProblem | undefined {
  const provider = known.providers.find(({ id }) => id === line.provider);
  if (!provider) {
    const ids = known.providers.map(({ id }) => id);
    return { at: "provider", message: `unknown provider ${line.provider}${suggestName(line.provider, ids)}` };
  }
  const { isRequestable: isAsked } = known;
  const isNew = line.like !== undefined;
  const found = isNew
    ? findTemplateOffers(provider, { model, line, isAsked })
    : findTargetOffers(provider, model, line);
  if ("message" in found) return found;
  for (const each of found) {
    const offer = applyEntryToOffer(isNew ? offerFromTemplate(each, model) : each, line);
    if ("message" in offer) return offer;
    const named = { provider, offer, line: place, isOff: line.enabled === false };
    const entry = isNew ? undefined : entries.find(({ from }) => from === each);
    if (entry?.line !== undefined)
      return { message: `${provider.id}'s ${each.upstreamModel} for ${model} has a line already` };
    if (entry) Object.assign(entry, named);
    else entries.push({ ...named, like: each });
  }
  return undefined;
}

/** A run remembers its offer by provider and upstream name, so one model cannot have two of the same. */
function findDuplicateOffers(entries: OfferDraft[], file: CatalogueFile): CatalogueProblem[] {
  const isSame = (a: OfferDraft, b: OfferDraft) => a.provider === b.provider && nameOf(a.offer) === nameOf(b.offer);
  return entries.flatMap((entry, index) => {
    const first = entries.findIndex((other) => isSame(other, entry));
    const { line } = entry.line === undefined ? entries[first]! : entry;
    if (first === index || line === undefined) return [];
    const { model, upstreamModel } = entry.offer;
    const path: YamlPath = [...file.models.find((each) => each.model === model)!.entries[line]!.path, "as"];
    return [{ path, message: `${entry.provider.id} has two offers of ${model} with the name ${upstreamModel}` }];
  });
}

const nameOf = ({ task, model, upstreamModel }: Offer) => [task, model, upstreamModel].join(" ");

/** Offers as they come that are not there any more: jobs that were sent under their names must still be asked about. */
function retiredOffers(entries: OfferDraft[], live: OfferDraft[]): Offer[] {
  const names = new Set(live.map(({ offer }) => nameOf(offer)));
  return entries
    .flatMap(({ from }) => (from && !names.has(nameOf(from)) ? [from] : []))
    .map((offer) => ({ ...offer, lifecycle: { ...offer.lifecycle, state: "retired" } }));
}

const withEffectiveLifecycle = (entry: OfferDraft, today: IsoDate): OfferDraft => ({
  ...entry,
  offer: entry.offer.lifecycle ? { ...entry.offer, lifecycle: effectiveLifecycle(entry.offer, today) } : entry.offer,
});

/** Where a model has lines, all its offers are numbered anew: those with a line by their lines, then the others as before. */
function assignPreferences(entries: OfferDraft[]): OfferDraft[] {
  const preferenceOf = ({ provider, offer }: OfferDraft) => offer.preference ?? provider.preference ?? USUAL_PREFERENCE;
  const placeOf = ({ line }: OfferDraft) => line ?? Number.MAX_SAFE_INTEGER;
  return entries.map((entry) => {
    const rivals = entries.filter(({ offer }) => offer.task === entry.offer.task && offer.model === entry.offer.model);
    if (rivals.every(({ line }) => line === undefined)) return entry;
    const sorted = rivals.sort((a, b) => placeOf(a) - placeOf(b) || preferenceOf(a) - preferenceOf(b));
    return { ...entry, offer: { ...entry.offer, preference: sorted.indexOf(entry) + 1 } };
  });
}
