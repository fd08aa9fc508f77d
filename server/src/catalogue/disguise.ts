// What a line with `like` promises: the adapter does the new thing just as it does the old one. It may look at the name of
// our model to know how, so for these offers it is told the name that it knows.
import type { Offer, Provider } from "../providers/provider.ts";

export type Disguise = { offer: Offer; like: Offer };

export function disguised(provider: Provider, disguises: Disguise[]): Provider {
  if (disguises.length === 0) return provider;
  const nameOf = ({ task, model, as }: Offer) => [task, model, as].join(" ");
  const models = new Map(disguises.map(({ offer, like }) => [nameOf(offer), like.model]));
  return {
    ...provider,
    submit(job, offer, context) {
      const model = models.get(nameOf(offer)) ?? offer.model;
      return provider.submit({ ...job, model }, { ...offer, model }, context);
    },
  };
}
