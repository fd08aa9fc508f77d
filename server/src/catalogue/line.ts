// What one line of the file does: which offers it means, and what becomes of them. Where it cannot mean anything, the
// answer is a sentence that says why, and the word of the line that it is about.
import type { Offer, OfferLimits, Provider } from "../providers/provider.ts";
import type { LimitChanges, Line } from "./file.ts";
import { suggestion } from "./nearest.ts";

/** Which list a price of the operator's is from, where the line does not say. */
const OPERATORS_PRICES = "operator";

export type Misfit = { at?: keyof Line; says: string };

const distinct = (words: string[]) => [...new Set(words)];
const namesOf = (offers: Offer[]) => distinct(offers.map(({ as }) => as));
const modelsOf = ({ offers }: Provider) => distinct(offers.map(({ model }) => model));

/** The offers of the provider that a line means: all it has for the model, or fewer where `task` or `offer` say so. */
export function meant(provider: Provider, model: string, line: Line): Offer[] | Misfit {
  const { task, offer } = line;
  const ofModel = provider.offers.filter((each) => each.model === model);
  if (ofModel.length === 0) {
    const says = `${provider.id} does not offer ${model}; to add it, say as, and like with one of`;
    return { says: `${says} ${modelsOf(provider).join(", ")}` };
  }
  const ofTask = ofModel.filter((each) => task === undefined || each.task === task);
  if (ofTask.length === 0) {
    const tasks = distinct(ofModel.map((each) => each.task));
    return { at: "task", says: `${provider.id} does not offer ${task} with ${model}${suggestion(task!, tasks)}` };
  }
  const found = ofTask.filter((each) => offer === undefined || each.as === offer);
  if (found.length === 0) {
    const says = `${provider.id} has no offer ${offer} for ${model}${suggestion(offer!, namesOf(ofTask))}`;
    return { at: "offer", says };
  }
  const setting = (["as", "price", "limits"] as const).find((name) => line[name] !== undefined);
  if (!setting || namesOf(found).length === 1) return found;
  const says = `${setting} is for which of ${provider.id}'s offers? Say offer: ${namesOf(found).join(" or ")}`;
  return { at: setting, says };
}

type Wish = { model: string; line: Line; isAsked(offer: Offer): boolean };

/** The offers that those of a line with `like` are made after: as the provider does one thing, so it is to do this. */
export function alike(provider: Provider, { model, line, isAsked }: Wish): Offer[] | Misfit {
  const { like = "", as, task, offer } = line;
  const misfit = (says: string): Misfit => ({ at: "like", says });
  if (as === undefined) return misfit(`like needs as: ${provider.id}'s own name for the model`);
  if (offer !== undefined) return misfit("like makes a new offer and offer names an old one; say only one of them");
  const known = provider.offers.filter((each) => each.model === like || each.as === like);
  if (known.length === 0) {
    return misfit(`${provider.id} offers nothing like ${like}${suggestion(like, modelsOf(provider))}`);
  }
  const found = known.filter(
    (each) => (task === undefined || each.task === task) && isAsked({ ...each, model }) && each.recovery !== "free",
  );
  if (found.length === 0) return misfit(`nothing that ${provider.id} does like ${like} is ever asked of ${model}`);
  const isTwice = found.some((each) => found.some((other) => other !== each && other.task === each.task));
  if (isTwice) return misfit(`like ${like} may mean ${namesOf(found).join(" or ")}; say which of them`);
  return found;
}

/** It is another model upstream: nobody has said that it stands in for what the others make, or where it comes. */
export const likened = (offer: Offer, model: string): Offer => ({
  ...offer,
  model,
  equivalence: undefined,
  preference: undefined,
});

/**
 * The offer as the line wants it. Price and lifecycle belong to an upstream name; under another name they are not known
 * until the line says them.
 */
export function changed(offer: Offer, line: Line): Offer | Misfit {
  const { as, price, price_version, per, limits, lifecycle, on_unknown, equivalence } = line;
  const isRebound = as !== undefined && as !== offer.as;
  if (isRebound && offer.recovery === "free")
    return { at: "as", says: `${offer.as} is built in and has no other name` };
  if (per !== undefined && price === undefined)
    return { at: "per", says: "per says what a price is for; say price too" };
  return {
    ...offer,
    ...(isRebound && { as, price: null, price_version: undefined, lifecycle: undefined }),
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
