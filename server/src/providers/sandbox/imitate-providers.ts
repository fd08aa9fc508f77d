// Makes a provider treat parameters as the preferred other provider of each model does, so that a request has the same
// warnings in development as in production, and strict handling refuses the same.
import type { ParameterName } from "../../contract/task-parameters.ts";
import { TASK_PARAMETERS } from "../../contract/task-parameters.ts";
import { UNSUPPORTED } from "../parameter-support.ts";
import { type Offer, type OfferLimits, offerPreference, type ParameterSupport, type Provider } from "../provider.ts";

/** Limits that change values. Those that send a job to another offer do not apply: there is no other offer. */
const ADJUSTING_LIMITS = ["ratios", "sizes", "sides", "durations", "duration"] as const satisfies (keyof OfferLimits)[];

const STATES: ParameterSupport["state"][] = ["honoured", "adapted", "unsupported"];

export const imitateProviders = (imitator: Provider, all: readonly Provider[]): Provider => ({
  ...imitator,
  offers: imitator.offers.map((offer) => {
    const groups = listOriginals(offer, imitator, all);
    return groups.length === 0 ? offer : imitate(offer, groups);
  }),
});

/** The offers of each other provider for the same task and model, the preferred provider first. */
function listOriginals({ task, model }: Offer, imitator: Provider, all: readonly Provider[]): Offer[][] {
  return all
    .filter((provider) => provider !== imitator)
    .map((provider) => ({
      provider,
      offers: provider.offers.filter(
        (each) => each.task === task && each.model === model && (each.lifecycle?.state ?? "active") === "active",
      ),
    }))
    .filter(({ offers }) => offers.length > 0)
    .sort((a, b) => offerPreference(a.provider, a.offers[0]!) - offerPreference(b.provider, b.offers[0]!))
    .map(({ offers }) => offers);
}

function imitate(offer: Offer, groups: Offer[][]): Offer {
  const usual = putMaskedLast(groups);
  const [preferred] = usual[0]!;
  const limits = ADJUSTING_LIMITS.flatMap((name) => {
    const limit = preferred?.limits?.[name];
    return limit === undefined ? [] : [[name, limit] as const];
  });
  const images = Math.max(...groups.flat().map((each) => mostImages(each)));
  return {
    ...offer,
    limits: {
      ...offer.limits,
      ...Object.fromEntries(limits),
      ...(images > 0 && Number.isFinite(images) && { images }),
    },
    parameters: Object.fromEntries(
      TASK_PARAMETERS[offer.task].map((name: ParameterName) => [
        name,
        findSupport(name, name === "mask" ? groups : usual),
      ]),
    ),
  };
}

/** Few jobs have a mask: a provider whose offers all need one leaves the others to the next provider. */
function putMaskedLast(groups: Offer[][]): Offer[][] {
  const withoutMask = groups.map((offers) => offers.filter((each) => !needsMask(each)));
  return [...withoutMask, ...groups].filter(({ length }) => length > 0);
}

/** Whether a mask makes the difference between a job that the offer can do and one that it leaves to others. */
export function needsMask({ supports }: Offer): boolean {
  const images = ["image"];
  return supports !== undefined && !supports({ images }) && supports({ images, mask: "mask" });
}

/** More images than any other provider takes would be refused or ignored in production. */
const mostImages = ({ parameters, limits }: Offer): number =>
  (parameters.images ?? UNSUPPORTED).state === "unsupported" ? 0 : (limits?.images ?? Number.POSITIVE_INFINITY);

/**
 * The best support among the offers of the preferred provider. A provider that refuses jobs with the parameter leaves
 * them to the next one.
 */
function findSupport(name: ParameterName, groups: Offer[][]): ParameterSupport {
  for (const offers of groups) {
    const supports = offers
      .map(({ parameters }) => parameters[name] ?? UNSUPPORTED)
      .filter(({ isExcluded }) => !isExcluded)
      .sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
    if (supports[0]) return supports[0];
  }
  return UNSUPPORTED;
}
