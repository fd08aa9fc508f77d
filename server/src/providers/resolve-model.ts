// The only place that turns the name of a model into offers, and the only reader of the offers of enabled providers.
//
// A name is one of these:
// - a name of the interface, such as `flux-dev`, or one that the operator added in gesso.yaml: the offers that have it;
// - the name of a model as people know it, such as `GPT Image 2.5 Flare` or `gpt-image-2.5-flare`;
// - `<provider>:<path>`, the provider's own name: the offers of that provider for that path. For `model.run`, any path:
//   the model's own schema says what it does.
import { builtInModels } from "../contract/models.ts";
import { rankNames } from "../contract/nearest-names.ts";
import type { Job, ModelFacts, Task } from "../contract/operation.ts";
import { findNamedModel, NAMED_MODELS, toModelId } from "./model-names.ts";
import { makeModelOffer } from "./model-offer.ts";
import { supportOf } from "./parameter-support.ts";
import { type EnabledProvider, type Offer, offerPreference } from "./provider.ts";

export type ResolvedOffer = { enabledProvider: EnabledProvider; offer: Offer };
type ModelOfTask = Pick<Job<unknown>, "task" | "model"> & Pick<Partial<Job<unknown>>, "model_run">;

const SUGGESTIONS = 3;

/** All offers of the enabled providers, the preferred one first. Some are only there for jobs of the past. */
export const listOffers = (enabled: readonly EnabledProvider[]): readonly ResolvedOffer[] => indexOf(enabled).all;

/** What the name means for the task, the preferred offer first. Retired offers are included. */
export function findOffers(
  enabled: readonly EnabledProvider[],
  { task, model, model_run }: ModelOfTask,
): readonly ResolvedOffer[] {
  if (task === "model.run") {
    const made = makeModelOffer(enabled, { task, model, model_run });
    return made ? [made] : [];
  }
  const { byModel, byPath, byId } = indexOf(enabled);
  const find = (index: OfferIndex, name: string) => index.get(keyOf(task, name));
  return (
    find(byModel, model) ??
    find(byPath, model) ??
    (model.includes(":") ? undefined : find(byId, toModelId(model))) ??
    []
  );
}

type OfferIndex = ReadonlyMap<string, ResolvedOffer[]>;
type Indexes = { all: ResolvedOffer[]; byModel: OfferIndex; byPath: OfferIndex; byId: OfferIndex };

const keyOf = (task: Task, name: string) => `${task} ${name}`;
const pathOf = ({ enabledProvider, offer }: ResolvedOffer) => `${enabledProvider.provider.id}:${offer.upstreamModel}`;
const namedModelOf = ({ enabledProvider, offer }: ResolvedOffer) =>
  findNamedModel(enabledProvider.provider.id, offer.upstreamModel);
/** Undefined for what the operator added, and for the sandbox. */
export const idOf = (each: ResolvedOffer): string | undefined => {
  const named = namedModelOf(each);
  return named && toModelId(named.name);
};

// Every accepted run asks several times. The list of a process never changes.
const indexes = new WeakMap<readonly EnabledProvider[], Indexes>();

function indexOf(enabled: readonly EnabledProvider[]): Indexes {
  const known = indexes.get(enabled);
  if (known) return known;
  const all = enabled
    .flatMap((enabledProvider) => enabledProvider.provider.offers.map((offer) => ({ enabledProvider, offer })))
    .sort((a, b) => preferenceOf(a) - preferenceOf(b));
  const groupBy = (nameOf: (each: ResolvedOffer) => string | undefined) =>
    Map.groupBy(
      all.filter((each) => nameOf(each) !== undefined),
      (each) => keyOf(each.offer.task, nameOf(each)!),
    );
  // Several names of the interface can stand for one path of a provider: by any other name it is one offer.
  const once = (index: OfferIndex) => new Map([...index].map(([key, offers]) => [key, withoutRepetition(offers)]));
  const index = {
    all,
    byModel: groupBy(({ offer }) => offer.model),
    byPath: once(groupBy(pathOf)),
    byId: once(groupBy(idOf)),
  };
  indexes.set(enabled, index);
  return index;
}

const preferenceOf = ({ enabledProvider, offer }: ResolvedOffer) => offerPreference(enabledProvider.provider, offer);

const withoutRepetition = (offers: ResolvedOffer[]): ResolvedOffer[] =>
  offers.filter((each, index) => offers.findIndex((other) => pathOf(other) === pathOf(each)) === index);

const isUsable = ({ offer }: ResolvedOffer) => offer.lifecycle?.state !== "retired";

/** What plans may ask about models. A model without an offer here uses everything: its requests are refused later. */
export const describeModels = (enabled: readonly EnabledProvider[]): ModelFacts => {
  const usable = (task: Task, model: string) => findOffers(enabled, { task, model }).filter(isUsable);
  return {
    does: (task, model) => usable(task, model).length > 0,
    uses(task, model, parameter) {
      const offers = usable(task, model);
      return offers.length === 0 || offers.some(({ offer }) => supportOf(offer, parameter).state !== "unsupported");
    },
    mostImages(task, model) {
      const offers = usable(task, model).filter(({ offer }) => supportOf(offer, "images").state !== "unsupported");
      return Math.max(0, ...offers.map(({ offer }) => offer.limits?.images ?? Number.POSITIVE_INFINITY));
    },
  };
};

/**
 * Why a request cannot name this model for this task, as a sentence for the caller. Undefined if it can, also if no
 * enabled provider has the model: that is no mistake of the caller.
 */
export function findNameProblem(enabled: readonly EnabledProvider[], { task, model }: ModelOfTask): string | undefined {
  const found = findOffers(enabled, { task, model });
  const [ended] = found;
  if (ended && !builtInModels.includes(model) && !found.some(isUsable)) return explainEnd(model, ended);
  if (ended) return undefined;
  const names = listNames(enabled, task);
  const isForOtherTask = listTasks(enabled, model).length > 0;
  if (isForOtherTask) return `${model} does not do ${task}.${suggest(model, names)}`;
  if (builtInModels.includes(model) || isNameOfDisabled(enabled, model)) return undefined;
  return `There is no model ${shorten(model)} here.${suggest(model, names)}`;
}

/** The model has ended, or the operator has retired its offers. */
function explainEnd(model: string, { enabledProvider, offer: { lifecycle } }: ResolvedOffer): string {
  const { since, successor } = lifecycle ?? {};
  const day = since === undefined ? "" : ` on ${since}`;
  return `${model} ended${day}.${successor === undefined ? "" : ` Use ${enabledProvider.provider.id}:${successor}.`}`;
}

const MAX_SHOWN = 80;
const shorten = (name: string) => (name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name);

function suggest(name: string, names: readonly string[]): string {
  const ranked = rankNames(name, names).map(({ candidate }) => candidate);
  const part = toModelId(name);
  const containing = part === "" ? [] : ranked.filter((each) => each.includes(part));
  const nearest = [...new Set([...containing, ...ranked])].slice(0, SUGGESTIONS);
  return nearest.length === 0 ? "" : ` Nearest names: ${nearest.join(", ")}. See catalogue.get.`;
}

const listTasks = (enabled: readonly EnabledProvider[], model: string): Task[] =>
  [...new Set(listOffers(enabled).map(({ offer }) => offer.task))].filter(
    (task) => findOffers(enabled, { task, model }).length > 0,
  );

/** Every name that a request can use for the task: names of the interface, of models, and of paths. */
function listNames(enabled: readonly EnabledProvider[], task: Task): string[] {
  const offers = listOffers(enabled).filter((each) => each.offer.task === task && isUsable(each));
  const named = offers.flatMap((each) => idOf(each) ?? []);
  return [...new Set([...offers.map(({ offer }) => offer.model), ...named, ...offers.map(pathOf)])];
}

/** A name of a model or path that only a provider without a key here has. */
function isNameOfDisabled(enabled: readonly EnabledProvider[], model: string): boolean {
  const id = toModelId(model);
  const isEnabled = (path: string) => enabled.some(({ provider }) => path.startsWith(`${provider.id}:`));
  return NAMED_MODELS.some(
    ({ name, paths }) =>
      paths.some((path) => path === model && !isEnabled(path)) || (toModelId(name) === id && !paths.some(isEnabled)),
  );
}
