// Applies one entry of gesso.yaml: finds the offers it refers to and changes them. An entry that cannot be applied
// returns an EntryProblem with a sentence and the setting it is about.
import { NAMEABLE_TASKS } from "../contract/models.ts";
import { TASK_PARAMETERS } from "../contract/task-parameters.ts";
import { flatPrice, type Price, type PriceUnit } from "../prices/price.ts";
import { publishedPrice } from "../prices/published.ts";
import type { OfferRow } from "../providers/offer-row.ts";
import type { Offer, OfferLimits, Provider, RowNotation } from "../providers/provider.ts";
import type { CatalogueEntry, LimitChanges } from "./catalogue-schema.ts";
import { suggestName } from "./did-you-mean.ts";

/** `price_version` of prices that the operator sets without one. */
const OPERATOR_PRICE_VERSION = "operator";

export type EntryProblem = { at?: keyof CatalogueEntry; message: string };

const distinct = (names: string[]) => [...new Set(names)];
const upstreamModelsOf = (offers: Offer[]) => distinct(offers.map(({ upstreamModel }) => upstreamModel));
const modelsOf = ({ offers }: Provider) => distinct(offers.map(({ model }) => model));

/** The offers that an entry changes: all of the provider for the model, or only those that match `task` and `offer`. */
export function findTargetOffers(provider: Provider, model: string, entry: CatalogueEntry): Offer[] | EntryProblem {
  const { task, offer } = entry;
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
    const message = `${provider.id} has no offer ${offer} for ${model}${suggestName(offer!, upstreamModelsOf(ofTask))}`;
    return { at: "offer", message: message };
  }
  const setting = (["as", "price", "limits"] as const).find((name) => entry[name] !== undefined);
  if (!setting || upstreamModelsOf(found).length === 1) return found;
  const message = `${setting} matches several offers of ${provider.id}. Set offer to ${upstreamModelsOf(found).join(" or ")}`;
  return { at: setting, message: message };
}

/** The template offers of an entry with `like`: the new offers copy everything except model and upstream model. */
export function findTemplateOffers(provider: Provider, model: string, entry: CatalogueEntry): Offer[] | EntryProblem {
  const { like = "", as, task, offer } = entry;
  const problem = (message: string): EntryProblem => ({ at: "like", message: message });
  if (as === undefined) return problem(`like needs as: the name of the model at ${provider.id}`);
  if (offer !== undefined)
    return problem("like creates a new offer and offer selects an existing one. Set only one of them");
  const known = provider.offers.filter((each) => each.model === like || each.upstreamModel === like);
  if (known.length === 0) {
    return problem(`${provider.id} has no offer ${like} to copy${suggestName(like, modelsOf(provider))}`);
  }
  const usable = known.filter(
    (each) =>
      (task === undefined || each.task === task) && NAMEABLE_TASKS.includes(each.task) && each.recovery !== "free",
  );
  // Several names of the interface can stand for one model of a provider: they are called in the same way.
  const isSame = (one: Offer, other: Offer) => one.task === other.task && one.upstreamModel === other.upstreamModel;
  const found = usable.filter((each, index) => usable.findIndex((other) => isSame(other, each)) === index);
  if (found.length === 0) return problem(`no task of ${provider.id}'s ${like} can be requested with ${model}`);
  const isAmbiguous = found.some((each) => found.some((other) => other !== each && other.task === each.task));
  if (isAmbiguous)
    return problem(`like ${like} matches ${upstreamModelsOf(found).join(" or ")}. Set like to one of these names`);
  return found;
}

/** What the rows of `gesso.yaml` become. Handed in, because the catalogue knows only the types of offers. */
export type MakeOffer = (row: OfferRow, notation: RowNotation) => Omit<Offer, "price">;

const ROW_SETTINGS = ["constants", "needs", "without", "least_images"] as const;

/** The offer of an entry with `fields`, which says how our parameters become the input of a model. */
export function offerOfEntry(
  provider: Provider,
  model: string,
  entry: CatalogueEntry,
  makeOffer: MakeOffer,
): Offer | EntryProblem {
  const { as, task, like, offer, fields = {}, constants, needs, without, least_images, limits } = entry;
  const problem = (message: string, at: keyof CatalogueEntry = "fields"): EntryProblem => ({ at, message });
  if (as === undefined) return problem(`fields needs as: the name of the model at ${provider.id}`);
  if (like !== undefined || offer !== undefined)
    return problem("fields describes a new offer; like copies one and offer selects one. Set only one of them");
  const known = NAMEABLE_TASKS.find((each) => each === task);
  if (known === undefined)
    return problem(`fields needs task: the task that the model does${suggestName(task ?? "", NAMEABLE_TASKS)}`);
  if (provider.rowNotation === undefined)
    return problem(`${provider.id} has requests of its own form, so its models cannot be described by fields`);
  const names: readonly string[] = TASK_PARAMETERS[known];
  const isParameter = (name: string) => names.includes(name) || (name === "size" && names.includes("width"));
  const others = Object.values(fields).flatMap((form) =>
    typeof form === "object" && "unless" in form && form.unless !== undefined ? [form.unless] : [],
  );
  const unknown = [...Object.keys(fields), ...others, ...(needs ?? []), ...(without ?? [])].find(
    (name) => !isParameter(name),
  );
  if (unknown !== undefined) return problem(`${known} has no parameter ${unknown}${suggestName(unknown, names)}`);
  const row = {
    ...{ task: known, model, upstreamModel: as, fields, constants, needs, without, leastImages: least_images },
    ...(limits && { limits: limitsOf(limits) }),
  } as OfferRow;
  return { ...makeOffer(row, provider.rowNotation), price: publishedPrice(provider.id, as, known) };
}

/** A setting that only an entry with `fields` can have. */
export const strayRowSetting = (entry: CatalogueEntry): EntryProblem | undefined => {
  const at = entry.fields === undefined ? ROW_SETTINGS.find((name) => entry[name] !== undefined) : undefined;
  return at && { at, message: `${at} needs fields: it is a part of a new offer` };
};

/** A copy for another model. Failover group and preference of the template do not apply to it. */
export const offerFromTemplate = (offer: Offer, model: string): Offer => ({
  ...offer,
  model,
  equivalence: undefined,
  preference: undefined,
});

/**
 * Applies the settings of an entry to an offer. Price and lifecycle belong to the upstream model: another upstream
 * model has its published price, and without one its price is unknown unless the entry sets it.
 */
export function applyEntryToOffer(offer: Offer, entry: CatalogueEntry): Offer | EntryProblem {
  const { provider, as, price, price_version, per, limits, lifecycle, on_unknown, equivalence } = entry;
  const hasNewUpstreamModel = as !== undefined && as !== offer.upstreamModel;
  if (hasNewUpstreamModel && offer.recovery === "free")
    return { at: "as", message: `${offer.upstreamModel} is built in. Its upstream model cannot be changed` };
  if (per !== undefined && typeof price !== "number") return { at: "per", message: "per needs price: set both" };
  return {
    ...offer,
    ...(hasNewUpstreamModel && {
      upstreamModel: as,
      price: publishedPrice(provider, as, offer.task),
      lifecycle: undefined,
    }),
    ...(price !== undefined && { price: operatorPrice(price, { per, version: price_version }) }),
    ...(limits !== undefined && { limits: { ...offer.limits, ...limitsOf(limits) } }),
    ...(lifecycle !== undefined && { lifecycle }),
    ...(on_unknown !== undefined && { on_unknown }),
    ...(equivalence !== undefined && { equivalence: equivalence ?? undefined }),
  };
}

function operatorPrice(
  price: NonNullable<CatalogueEntry["price"]> | null,
  { per, version = OPERATOR_PRICE_VERSION }: { per: PriceUnit | undefined; version: string | undefined },
): Price | null {
  if (price === null) return null;
  if (typeof price === "number") return { ...flatPrice(price, per), version };
  return { ...price, confidence: "operator", version };
}

function limitsOf({ sides, source, ...changes }: LimitChanges): OfferLimits {
  const { least_pixels: leastPixels, most_pixels: mostPixels, most_ratio: mostRatio, ...bounds } = sides ?? {};
  const named = { ...bounds, leastPixels, mostPixels, mostRatio };
  return {
    ...Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? undefined])),
    ...(sides !== undefined && { sides: sides === null ? undefined : named }),
    ...(source !== undefined && {
      source: source ? { mostPixels: source.most_pixels, mostMaskedPixels: source.most_masked_pixels } : undefined,
    }),
  };
}
