// What one line of the file does: which offers it means, and what becomes of them. Where it cannot mean anything, the
// answer is a sentence that message why, and the word of the line that it is about.
import type { Offer, OfferLimits, Provider } from "../providers/provider.ts";
import type { CatalogueEntry, LimitChanges } from "./catalogue-schema.ts";
import { suggestName } from "./did-you-mean.ts";

/** Which list a price of the operator's is from, where the line does not say. */
const OPERATORS_PRICES = "operator";

export type EntryProblem = { at?: keyof CatalogueEntry; message: string };

const distinct = (words: string[]) => [...new Set(words)];
const namesOf = (offers: Offer[]) => distinct(offers.map(({ upstreamModel: as }) => as));
const modelsOf = ({ offers }: Provider) => distinct(offers.map(({ model }) => model));

/** The offers of the provider that a line means: all it has for the model, or fewer where `task` or `offer` say so. */
export function findTargetOffers(provider: Provider, model: string, line: CatalogueEntry): Offer[] | EntryProblem {
  const { task, offer } = line;
  const ofModel = provider.offers.filter((each) => each.model === model);
  if (ofModel.length === 0) {
    const message = `${provider.id} does not offer ${model}. To add it, set as and set like to one of:`;
    return { message: `${message} ${modelsOf(provider).join(", ")}` };
  }
  const ofTask = ofModel.filter((each) => task === undefined || each.task === task);
  if (ofTask.length === 0) {
    const tasks = distinct(ofModel.map((each) => each.task));
    return { at: "task", message: `${provider.id} does not offer ${task} with ${model}${suggestName(task!, tasks)}` };
  }
  const found = ofTask.filter((each) => offer === undefined || each.upstreamModel === offer);
  if (found.length === 0) {
    const message = `${provider.id} has no offer ${offer} for ${model}${suggestName(offer!, namesOf(ofTask))}`;
    return { at: "offer", message: message };
  }
  const setting = (["as", "price", "limits"] as const).find((name) => line[name] !== undefined);
  if (!setting || namesOf(found).length === 1) return found;
  const message = `${setting} matches several offers of ${provider.id}. Set offer to ${namesOf(found).join(" or ")}`;
  return { at: setting, message: message };
}

type TemplateRequest = { model: string; line: CatalogueEntry; isAsked(offer: Offer): boolean };

/** The offers that those of a line with `like` are made after: as the provider does one thing, so it is to do this. */
export function findTemplateOffers(
  provider: Provider,
  { model, line, isAsked }: TemplateRequest,
): Offer[] | EntryProblem {
  const { like = "", as, task, offer } = line;
  const misfit = (message: string): EntryProblem => ({ at: "like", message: message });
  if (as === undefined) return misfit(`like needs as: ${provider.id}'s own name for the model`);
  if (offer !== undefined)
    return misfit("like creates a new offer and offer selects an existing one. Set only one of them");
  const known = provider.offers.filter((each) => each.model === like || each.upstreamModel === like);
  if (known.length === 0) {
    return misfit(`${provider.id} offers nothing like ${like}${suggestName(like, modelsOf(provider))}`);
  }
  const found = known.filter(
    (each) => (task === undefined || each.task === task) && isAsked({ ...each, model }) && each.recovery !== "free",
  );
  if (found.length === 0) return misfit(`no task of ${provider.id}'s ${like} can be requested with ${model}`);
  const isTwice = found.some((each) => found.some((other) => other !== each && other.task === each.task));
  if (isTwice) return misfit(`like ${like} may mean ${namesOf(found).join(" or ")}; say which of them`);
  return found;
}

/** It is another model upstream: nobody has said that it stands in for what the others make, or where it comes. */
export const offerFromTemplate = (offer: Offer, model: string): Offer => ({
  ...offer,
  model,
  equivalence: undefined,
  preference: undefined,
});

/**
 * The offer as the line wants it. Price and lifecycle belong to an upstream name; under another name they are not known
 * until the line message them.
 */
export function applyEntryToOffer(offer: Offer, line: CatalogueEntry): Offer | EntryProblem {
  const { as, price, price_version, per, limits, lifecycle, on_unknown, equivalence } = line;
  const isRebound = as !== undefined && as !== offer.upstreamModel;
  if (isRebound && offer.recovery === "free")
    return { at: "as", message: `${offer.upstreamModel} is built in and has no other name` };
  if (per !== undefined && price === undefined) return { at: "per", message: "per needs price: set both" };
  return {
    ...offer,
    ...(isRebound && { upstreamModel: as, price: null, price_version: undefined, lifecycle: undefined }),
    ...(price !== undefined && { price, price_version: price_version ?? OPERATORS_PRICES }),
    ...(per !== undefined && { per }),
    ...(limits !== undefined && { limits: { ...offer.limits, ...limitsOf(limits) } }),
    ...(lifecycle !== undefined && { lifecycle }),
    ...(on_unknown !== undefined && { on_unknown }),
    ...(equivalence !== undefined && { equivalence: equivalence ?? undefined }),
  };
}

function limitsOf({ sides, ...changes }: LimitChanges): OfferLimits {
  const { least_pixels: leastPixels, most_pixels: mostPixels, most_ratio: mostRatio, ...bounds } = sides ?? {};
  const named = { ...bounds, leastPixels, mostPixels, mostRatio };
  return {
    ...Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? undefined])),
    ...(sides !== undefined && { sides: sides === null ? undefined : named }),
  };
}
