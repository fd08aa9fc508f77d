// Applies gesso.yaml to the built-in offers of the providers. The order of entries becomes the preference of offers.
// Removed offers stay as retired offers, so that existing runs can still use them.
import { modelIds } from "../contract/models.ts";
import { nearestName } from "../contract/nearest-names.ts";
import type { Offer, Provider } from "../providers/provider.ts";
import {
  applyEntryToOffer,
  type EntryProblem,
  findTargetOffers,
  findTemplateOffers,
  type MakeOffer,
  offerFromTemplate,
  offerOfEntry,
  strayRowSetting,
} from "./catalogue-entry.ts";
import type { CatalogueEntry, CatalogueFile, CatalogueProblem, YamlPath } from "./catalogue-schema.ts";
import { suggestName } from "./did-you-mean.ts";
import { effectiveLifecycle, type IsoDate } from "./lifecycle.ts";

/**
 * An offer while entries are applied. `from`: the built-in offer; `like`: the template of a new offer; `entryIndex`:
 * the entry of the model that refers to it.
 */
type OfferDraft = {
  provider: Provider;
  from?: Offer;
  like?: Offer;
  offer: Offer;
  entryIndex?: number;
  isDisabled?: boolean;
};

const DEFAULT_PREFERENCE = 50;

/** A name that an operator may add. Names with a colon are the providers' own. */
const ALIAS = /^[a-z0-9][a-z0-9.-]{0,63}$/;

export function applyCatalogue(
  providers: Provider[],
  file: CatalogueFile,
  today: IsoDate,
  makeOffer: MakeOffer,
): { providers: Provider[]; problems: CatalogueProblem[] } {
  const problems: CatalogueProblem[] = [];
  const ids = providers.map(({ id }) => id);
  for (const { id, path } of file.providers.filter((each) => !ids.includes(each.id))) {
    problems.push({ path, message: `unknown provider ${id}${suggestName(id, ids)}`, at: "key" });
  }
  const configured = providers.map((provider) => applyProviderSettings(provider, file));
  const drafts: OfferDraft[] = configured.flatMap((provider) =>
    provider.offers.map((offer) => ({ provider, from: offer, offer })),
  );
  const names = [...new Set<string>([...modelIds, ...drafts.map(({ offer }) => offer.model)])];
  for (const { model, path, entries } of file.models) {
    const isAdded = ALIAS.test(model) && entries.every(({ entry }) => (entry.like ?? entry.fields) !== undefined);
    if (!names.includes(model) && !isAdded) {
      const nearest = nearestName(model, names);
      const hint = nearest
        ? `; did you mean ${nearest}?`
        : ": to add a name, set as and like, or as and fields, in each of its entries";
      problems.push({ path, message: `unknown model ${model}${hint}`, at: "key" });
      continue;
    }
    for (const [index, { entry, path: at }] of entries.entries()) {
      const problem = applyEntry(drafts, configured, { model, entry, index, makeOffer });
      if (problem) problems.push({ path: problem.at ? [...at, problem.at] : at, message: problem.message });
    }
  }
  problems.push(...findDuplicateOffers(drafts, file));
  const enabled = drafts.filter((draft) => !draft.isDisabled).map((draft) => withEffectiveLifecycle(draft, today));
  const ordered = assignPreferences(enabled.filter(({ offer }) => offer.lifecycle?.state !== "retired"));
  const isDisabled = (id: string) => file.providers.some((each) => each.id === id && each.settings.enabled === false);
  return {
    providers: configured
      .filter(({ id }) => !isDisabled(id))
      .map((provider) => {
        const own = ordered.filter((draft) => draft.provider === provider);
        const templatedOffers = own.flatMap(({ offer, like }) => (like ? [{ offer, like }] : []));
        const retired = retiredOffers(
          drafts.filter((draft) => draft.provider === provider),
          own,
        );
        return {
          ...withTemplateModels(provider, templatedOffers),
          offers: [...own.map(({ offer }) => offer), ...retired],
        };
      }),
    problems,
  };
}

/** Applies the operator's settings of a provider. Its preference replaces the preferences of its offers. */
function applyProviderSettings(provider: Provider, file: CatalogueFile): Provider {
  const settings = file.providers.find(({ id }) => id === provider.id)?.settings;
  if (!settings) return provider;
  const {
    concurrent = provider.rateLimit?.concurrent,
    per_minute = provider.rateLimit?.perMinute,
    preference,
  } = settings;
  const rateLimit = { ...(concurrent && { concurrent }), ...(per_minute && { perMinute: per_minute }) };
  const withoutPreference = (offer: Offer): Offer => ({ ...offer, preference: undefined });
  return {
    ...provider,
    rateLimit,
    ...(preference !== undefined && { preference, offers: provider.offers.map(withoutPreference) }),
  };
}

type IndexedEntry = { model: string; entry: CatalogueEntry; index: number; makeOffer: MakeOffer };

/** Changes the drafts as the entry says. Returns a problem if the entry cannot be applied. */
function applyEntry(
  drafts: OfferDraft[],
  providers: Provider[],
  { model, entry, index, makeOffer }: IndexedEntry,
): EntryProblem | undefined {
  const provider = providers.find(({ id }) => id === entry.provider);
  if (!provider) {
    const ids = providers.map(({ id }) => id);
    return { at: "provider", message: `unknown provider ${entry.provider}${suggestName(entry.provider, ids)}` };
  }
  const stray = strayRowSetting(entry);
  if (stray) return stray;
  if (entry.fields !== undefined) {
    const described = offerOfEntry(provider, model, entry, makeOffer);
    // The limits are in the row already, where others follow from them.
    const offer = "message" in described ? described : applyEntryToOffer(described, { ...entry, limits: undefined });
    if ("message" in offer) return offer;
    drafts.push({ provider, offer, entryIndex: index, isDisabled: entry.enabled === false });
    return undefined;
  }
  const isNew = entry.like !== undefined;
  const found = isNew ? findTemplateOffers(provider, model, entry) : findTargetOffers(provider, model, entry);
  if ("message" in found) return found;
  for (const each of found) {
    const offer = applyEntryToOffer(isNew ? offerFromTemplate(each, model) : each, entry);
    if ("message" in offer) return offer;
    const changes: OfferDraft = { provider, offer, entryIndex: index, isDisabled: entry.enabled === false };
    const draft = isNew ? undefined : drafts.find(({ from }) => from === each);
    if (draft?.entryIndex !== undefined)
      return { message: `another entry of ${model} already changes ${each.upstreamModel} of ${provider.id}` };
    if (draft) Object.assign(draft, changes);
    else drafts.push({ ...changes, like: each });
  }
  return undefined;
}

/** Runs store their offer as provider and upstream model, so a model cannot have two offers with the same names. */
function findDuplicateOffers(drafts: OfferDraft[], file: CatalogueFile): CatalogueProblem[] {
  const isSame = (a: OfferDraft, b: OfferDraft) => a.provider === b.provider && offerKey(a.offer) === offerKey(b.offer);
  return drafts.flatMap((draft, index) => {
    const first = drafts.findIndex((other) => isSame(other, draft));
    const { entryIndex } = draft.entryIndex === undefined ? drafts[first]! : draft;
    if (first === index || entryIndex === undefined) return [];
    const { model, upstreamModel } = draft.offer;
    const path: YamlPath = [...file.models.find((each) => each.model === model)!.entries[entryIndex]!.path, "as"];
    return [
      {
        path,
        message: `${draft.provider.id} would have two offers of ${model} with the upstream model ${upstreamModel}`,
      },
    ];
  });
}

const offerKey = ({ task, model, upstreamModel }: Offer) => [task, model, upstreamModel].join(" ");

/**
 * Built-in offers that the file removed or renamed, and offers that are retired. Jobs that were submitted with them
 * must still be polled.
 */
function retiredOffers(drafts: OfferDraft[], enabled: OfferDraft[]): Offer[] {
  const names = new Set(enabled.map(({ offer }) => offerKey(offer)));
  return drafts.flatMap(({ from, offer, isDisabled }) => {
    if (!from || names.has(offerKey(from))) return [];
    const isRemoved = isDisabled || offerKey(offer) !== offerKey(from);
    const { lifecycle } = isRemoved ? from : offer;
    return [{ ...from, lifecycle: { ...lifecycle, state: "retired" as const }, ...(isRemoved && { isRemoved }) }];
  });
}

const withEffectiveLifecycle = (draft: OfferDraft, today: IsoDate): OfferDraft => ({
  ...draft,
  offer: draft.offer.lifecycle ? { ...draft.offer, lifecycle: effectiveLifecycle(draft.offer, today) } : draft.offer,
});

/** For models with entries, numbers all offers anew: first in the order of the entries, then the others as before. */
function assignPreferences(drafts: OfferDraft[]): OfferDraft[] {
  const preferenceOf = ({ provider, offer }: OfferDraft) =>
    offer.preference ?? provider.preference ?? DEFAULT_PREFERENCE;
  const orderOf = ({ entryIndex }: OfferDraft) => entryIndex ?? Number.MAX_SAFE_INTEGER;
  return drafts.map((draft) => {
    const sameModel = drafts.filter(
      ({ offer }) => offer.task === draft.offer.task && offer.model === draft.offer.model,
    );
    if (sameModel.every(({ entryIndex }) => entryIndex === undefined)) return draft;
    const sorted = sameModel.sort((a, b) => orderOf(a) - orderOf(b) || preferenceOf(a) - preferenceOf(b));
    return { ...draft, offer: { ...draft.offer, preference: sorted.indexOf(draft) + 1 } };
  });
}

type TemplatedOffer = { offer: Offer; like: Offer };

/**
 * Offers created with `like` behave like their template offer. Adapters can branch on the model ID, so `submit`
 * receives the model ID of the template instead of the new one.
 */
function withTemplateModels(provider: Provider, templatedOffers: TemplatedOffer[]): Provider {
  if (templatedOffers.length === 0) return provider;
  const offerKey = ({ task, model, upstreamModel }: Offer) => [task, model, upstreamModel].join(" ");
  const models = new Map(templatedOffers.map(({ offer, like }) => [offerKey(offer), like.model]));
  return {
    ...provider,
    submit(job, offer, context) {
      const model = models.get(offerKey(offer)) ?? offer.model;
      return provider.submit({ ...job, model }, { ...offer, model }, context);
    },
  };
}
