// The catalogue that callers see: the offers of the enabled providers, as the operator configured them, with the state
// of their circuit breakers. It has no setting of a provider: no host, no key, no rate limit.

import { mayCall } from "../access/scopes.ts";
import { findModelDefinition, models } from "../contract/models.ts";
import type { ModelFacts, Task } from "../contract/operation.ts";
import { parseInput } from "../contract/parse.ts";
import type { CatalogueOffer, ModelCatalogue } from "../contract/schemas/catalogue.ts";
import { TASK_PARAMETERS } from "../contract/task-parameters.ts";
import type { Caller } from "../db/access/caller.ts";
import { runOperations } from "../operations/all-runs.ts";
import { type Price, priceInShort } from "../prices/price.ts";
import { findNamedModel, toModelId } from "../providers/model-names.ts";
import { supportOf } from "../providers/parameter-support.ts";
import { type Offer, type OfferLimits, offerPreference, type Provider } from "../providers/provider.ts";
import { listOffers } from "../providers/resolve-model.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { ProviderRegistry } from "../runs/offers/provider-registry.ts";

export type CatalogueDependencies = Pick<Runtime, "clock"> & { providers: ProviderRegistry };
type ProviderOffer = { provider: Provider; offer: Offer };

const TASKS = Object.keys(TASK_PARAMETERS) as Task[];

export function buildCatalogue(
  services: CatalogueDependencies,
  caller: Pick<Caller, "role" | "scopes">,
): ModelCatalogue {
  const all = listOffers(services.providers.enabled)
    .filter(({ offer }) => !offer.isRemoved)
    .map(({ enabledProvider: { provider }, offer }) => ({ provider, offer }));
  const names = [...new Set([...models.map(({ id }) => id), ...all.map(({ offer }) => offer.model)])];
  const listed = names.map((model) => ({
    model,
    description: findModelDefinition(model)?.description ?? null,
    ...describeName(all, model),
    offers: TASKS.flatMap((task) => {
      const ranked = rankOffers(all.filter(({ offer }) => offer.model === model && offer.task === task));
      return ranked.map((each, index) => renderOffer(services, each, index === 0 && !isRetired(each)));
    }),
  }));
  return {
    models: listed.filter(({ offers }) => offers.length > 0),
    tasks: TASKS.filter((task) => all.some(({ offer }) => offer.task === task)).map((task) => ({
      task,
      models: [...new Set(all.flatMap(({ offer }) => (offer.task === task ? [offer.model] : [])))],
      operations: (OPERATIONS_BY_TASK.get(task) ?? []).filter((each) => mayCall(caller, each)).map(({ name }) => name),
    })),
  };
}

/** For plans that are only asked for their tasks. */
const EVERY_MODEL: ModelFacts = { does: () => true, uses: () => true, mostImages: () => Number.POSITIVE_INFINITY };

/** The operations by the tasks that the plan of their own example has. */
const OPERATIONS_BY_TASK = Map.groupBy(
  runOperations.flatMap((operation) => {
    if (!operation.plan) return [];
    const { input, provided } = parseInput(operation, { ...operation.example, ...operation.fixedValues }, "json");
    const planned = new Set(operation.plan(input, provided, EVERY_MODEL).map(({ task }) => task));
    return [...planned].map((task) => ({ task, name: operation.name, http: operation.http }));
  }),
  ({ task }) => task,
);

/** What people call the model of the preferred offer, and whether the name stands for a model that ended. */
function describeName(all: ProviderOffer[], name: string) {
  const [preferred] = rankOffers(
    all.filter(({ offer }) => offer.model === name && offer.lifecycle?.state !== "retired"),
  );
  const named = preferred && findNamedModel(preferred.provider.id, preferred.offer.upstreamModel);
  const { retired } = findModelDefinition(name) ?? {};
  const isReplaced = retired !== undefined && named !== undefined && named.name !== retired.name;
  return {
    display_name: named?.name ?? null,
    vendor: named?.vendor ?? null,
    stands_for: isReplaced ? { name: retired.name, ended_on: retired.since } : null,
  };
}

const isRetired = ({ offer }: ProviderOffer) => offer.lifecycle?.state === "retired";

/** In the order of selection; retired offers come last. */
const rankOffers = (offers: ProviderOffer[]): ProviderOffer[] =>
  offers.toSorted(
    (a, b) =>
      Number(isRetired(a)) - Number(isRetired(b)) ||
      offerPreference(a.provider, a.offer) - offerPreference(b.provider, b.offer),
  );

function renderOffer(
  { providers, clock }: CatalogueDependencies,
  { provider, offer }: ProviderOffer,
  preferred: boolean,
): CatalogueOffer {
  const { task, upstreamModel, price, latency = "usual", equivalence = null, lifecycle } = offer;
  const named = findNamedModel(provider.id, upstreamModel);
  const openSeconds = providers.circuitBreaker.openForSeconds({ provider: provider.id, upstreamModel });
  return {
    ...{ task, provider: provider.id, upstream: upstreamModel, name: `${provider.id}:${upstreamModel}` },
    ...{
      model_name: named?.name ?? null,
      model_id: named ? toModelId(named.name) : null,
      preferred,
      ...renderPrice(price),
      latency,
      equivalence,
    },
    limits: renderLimits(offer.limits),
    parameters: TASK_PARAMETERS[task].map((name) => renderParameter(offer, name)),
    lifecycle: {
      state: lifecycle?.state ?? "active",
      since: lifecycle?.since ?? null,
      successor: lifecycle?.successor ?? null,
    },
    open_until: openSeconds > 0 ? new Date(clock.now() + openSeconds * 1000).toISOString() : null,
  };
}

function renderPrice(price: Price | null): Pick<CatalogueOffer, "price" | "per" | "at_most" | "price_table"> {
  if (!price) return { price: null, per: "image", at_most: false, price_table: null };
  const { usd, per, atMost } = priceInShort(price);
  const { rows, most, as_of = null, source = null, confidence } = price;
  const table = { rows: [...rows], most: most ? [...most] : null, as_of, source, confidence };
  return { price: usd, per, at_most: atMost, price_table: table };
}

function renderParameter(offer: Offer, name: string): CatalogueOffer["parameters"][number] {
  const { state, isExcluded, how, notWith, onlyWith } = supportOf(offer, name);
  return {
    name,
    state: isExcluded ? "excluded" : state,
    ...(how && { how }),
    ...(notWith && { not_with: notWith }),
    ...(onlyWith && { only_with: onlyWith }),
  };
}

function renderLimits({ ratios, sizes, durations, sides, source, ...others }: OfferLimits = {}) {
  return {
    ...others,
    ...(ratios && { ratios: [...ratios] }),
    ...(sizes && { sizes: [...sizes] }),
    ...(durations && { durations: [...durations] }),
    ...(sides && { sides: toSnakeCase(sides) }),
    ...(source && { source: toSnakeCase(source) }),
  };
}

/** `mostPixels` becomes `most_pixels`, as in gesso.yaml. */
const toSnakeCase = (limits: Readonly<Record<string, number | undefined>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]],
    ),
  );
