// The catalogue that callers see: the offers of the enabled providers, as the operator configured them, with the state
// of their circuit breakers. It has no setting of a provider: no host, no key, no rate limit.
import { mayCall } from "../access/scopes.ts";
import type { Caller } from "../db/access/caller.ts";
import type { Task } from "../kit/operation.ts";
import { parseInput } from "../kit/parse.ts";
import type { CatalogueOffer, ModelCatalogue } from "../kit/schemas/catalogue.ts";
import { TASK_PARAMETERS } from "../kit/task-parameters.ts";
import { models } from "../models.ts";
import { operations } from "../operations/all.ts";
import { supportOf } from "../providers/parameter-support.ts";
import { type Offer, type OfferLimits, offerPreference, type Provider } from "../providers/provider.ts";
import type { Services } from "../runs/services.ts";

type Dependencies = Pick<Services, "providers" | "clock">;
type ProviderOffer = { provider: Provider; offer: Offer };

const TASKS = Object.keys(TASK_PARAMETERS) as Task[];

export function buildCatalogue(services: Dependencies, caller: Pick<Caller, "role" | "scopes">): ModelCatalogue {
  const all = services.providers.enabled.flatMap(({ provider }) =>
    provider.offers.flatMap((offer) => (offer.isRemoved ? [] : [{ provider, offer }])),
  );
  const names = [...new Set([...models.map(({ id }) => id), ...all.map(({ offer }) => offer.model)])];
  const listed = names.map((model) => ({
    model,
    description: models.find(({ id }) => id === model)?.description ?? null,
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

/** The operations by the tasks that the plan of their own example has. */
const OPERATIONS_BY_TASK = Map.groupBy(
  operations.flatMap((operation) => {
    if (!operation.plan) return [];
    const { input, provided } = parseInput(operation, { ...operation.example, ...operation.fixedValues }, "json");
    const planned = new Set(operation.plan(input, provided).map(({ task }) => task));
    return [...planned].map((task) => ({ task, name: operation.name, http: operation.http }));
  }),
  ({ task }) => task,
);

const isRetired = ({ offer }: ProviderOffer) => offer.lifecycle?.state === "retired";

/** In the order of selection; retired offers come last. */
const rankOffers = (offers: ProviderOffer[]): ProviderOffer[] =>
  offers.toSorted(
    (a, b) =>
      Number(isRetired(a)) - Number(isRetired(b)) ||
      offerPreference(a.provider, a.offer) - offerPreference(b.provider, b.offer),
  );

function renderOffer(
  { providers, clock }: Dependencies,
  { provider, offer }: ProviderOffer,
  preferred: boolean,
): CatalogueOffer {
  const { task, upstreamModel, price, per = "image", latency = "usual", equivalence = null, lifecycle } = offer;
  const openSeconds = providers.circuitBreaker.openForSeconds({ provider: provider.id, upstreamModel });
  return {
    ...{ task, provider: provider.id, upstream: upstreamModel, preferred, price, per, latency, equivalence },
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
