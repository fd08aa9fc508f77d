// What the Models page says about the catalogue: kinds of work, providers in order, prices, and what is wrong with an
// offer.
import type { CatalogueOffer, ModelCatalogue } from "@gesso/client";
import { formatClock } from "../format/time.ts";
import { text } from "../text/text.ts";

export type CatalogueModel = ModelCatalogue["models"][number];

const GROUP_TASKS: Record<string, readonly string[]> = {
  generate: ["image.generate", "image.character", "image.reference"],
  edit: ["image.edit", "image.remove", "image.reframe", "image.upscale", "image.resize", "image.blend"],
  combine: ["image.combine"],
  video: ["video.generate"],
  cutOut: ["image.segment", "image.remove-background", "image.cut"],
  words: ["image.describe", "prompt.enhance"],
};

const isInGroup = ({ offers }: CatalogueModel, group: string): boolean =>
  offers.some(({ task }) => GROUP_TASKS[group]?.includes(task));

/** The kinds of work that at least one model does. */
export const listGroups = ({ models }: ModelCatalogue): string[] =>
  Object.keys(GROUP_TASKS).filter((group) => models.some((model) => isInGroup(model, group)));

export const listProviders = ({ models }: ModelCatalogue): string[] => [
  ...new Set(models.flatMap(({ offers }) => offers.map(({ provider }) => provider))),
];

/** Models of a group with an offer in use first, then retired ones; optionally the cheapest first. */
export function selectModels(catalogue: ModelCatalogue, group: string, isByPrice: boolean): CatalogueModel[] {
  const chosen = catalogue.models.filter((model) => group === "all" || isInGroup(model, group));
  if (!isByPrice) return chosen;
  const priceOf = (model: CatalogueModel) => leadingOffer(model).price ?? Number.POSITIVE_INFINITY;
  return chosen.toSorted((a, b) => (priceOf(a) < priceOf(b) ? -1 : Number(priceOf(a) > priceOf(b))));
}

/** The offer that a model is described by: the preferred one of its first task. */
export const leadingOffer = ({ offers }: CatalogueModel): CatalogueOffer =>
  offers.find(({ preferred }) => preferred) ?? offers[0]!;

export const listTasks = ({ offers }: CatalogueModel): string[] => [...new Set(offers.map(({ task }) => task))];

/** What people call it, and its description, or else the operations that use it. */
export function describeModel(each: CatalogueModel, tasks: ModelCatalogue["tasks"]): string {
  const { model, description, display_name, stands_for } = each;
  const users = tasks.flatMap(({ models, operations }) => (models.includes(model) ? operations : []));
  const usedBy = users.length > 0 && text.models.usedBy([...new Set(users)]);
  const standsFor = stands_for && text.models.standsFor(stands_for.name, stands_for.ended_on);
  return [display_name, standsFor, description || usedBy].filter(Boolean).join(" · ");
}

/** The providers of the leading task in the order in which Gesso tries them. */
export function providersInOrder(model: CatalogueModel): string[] {
  const { task } = leadingOffer(model);
  const used = model.offers.filter((offer) => offer.task === task && offer.lifecycle.state !== "retired");
  return [...new Set(used.map(({ provider }) => provider))];
}

export const formatSpeed = ({ latency }: CatalogueOffer): string =>
  (text.models.speeds as Record<string, string>)[latency] ?? latency;

const formatDay = (day: string): string =>
  new Date(`${day}T00:00:00Z`).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** What is wrong with an offer, or will be. Undefined if there is nothing to say. */
export function describeTrouble(offer: CatalogueOffer, now: number): string | undefined {
  const { open_until: openUntil, lifecycle, provider } = offer;
  const words = text.models;
  if (openUntil !== null && Date.parse(openUntil) > now) return words.paused(provider, formatClock(openUntil));
  const { state, since, successor } = lifecycle;
  const isFuture = since !== null && Date.parse(since) > now;
  const day = since === null ? "" : formatDay(since);
  const sentence =
    state === "retired"
      ? words.retired
      : state === "deprecated"
        ? isFuture
          ? words.retires(day)
          : words.deprecated
        : isFuture
          ? words.willBeDeprecated(day)
          : undefined;
  return sentence && successor ? `${sentence} · ${words.successor(successor)}` : sentence;
}

/** What a request for the model can meet: offers that are paused, and the lifecycle of the one that is tried first. */
export function listTroubles(model: CatalogueModel, now: number): string[] {
  const leading = leadingOffer(model);
  const isPaused = ({ open_until: until }: CatalogueOffer) => until !== null && Date.parse(until) > now;
  const troubled = model.offers.filter((offer) => offer === leading || isPaused(offer));
  return [...new Set(troubled.flatMap((offer) => describeTrouble(offer, now) ?? []))];
}
