// Which provider does a job: the first live offer for its task and model. The choice is made once and journalled.
import { Fault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { Offer } from "../providers/provider.ts";
import type { House, LiveProvider } from "./house.ts";

/** What is journalled of a choice. */
export type Choice = { provider: string; as: string };

export function chooseOffer(house: Pick<House, "providers">, job: Pick<Job, "task" | "model" | "mask">): Choice {
  for (const { provider } of house.providers) {
    const offer = provider.offers.find((each) => fits(each, job));
    if (offer) return { provider: provider.id, as: offer.as };
  }
  throw new Fault("model_unavailable", { model: job.model });
}

const fits = (offer: Offer, job: Pick<Job, "task" | "model" | "mask">) =>
  offer.task === job.task && offer.model === job.model && (offer.when?.(job) ?? true);

/** The choice as something to work with. What was chosen may have been switched off since. */
export function chosen(
  house: Pick<House, "providers">,
  choice: Choice,
  job: Pick<Job, "task" | "model">,
): { live: LiveProvider; offer: Offer } {
  const live = house.providers.find(({ provider }) => provider.id === choice.provider);
  const offer = live?.provider.offers.find(
    (each) => each.as === choice.as && each.task === job.task && each.model === job.model,
  );
  if (!live || !offer) throw new Fault("model_unavailable", { model: job.model });
  return { live, offer };
}
