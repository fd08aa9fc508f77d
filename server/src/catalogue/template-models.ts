// For offers created with `like`, the adapter must behave as for the template offer. Adapters may branch on the model id, so submit()
// receives the template's model id instead of the new one.
import type { Offer, Provider } from "../providers/provider.ts";

export type TemplatedOffer = { offer: Offer; like: Offer };

export function withTemplateModels(provider: Provider, disguises: TemplatedOffer[]): Provider {
  if (disguises.length === 0) return provider;
  const nameOf = ({ task, model, upstreamModel }: Offer) => [task, model, upstreamModel].join(" ");
  const models = new Map(disguises.map(({ offer, like }) => [nameOf(offer), like.model]));
  return {
    ...provider,
    submit(job, offer, context) {
      const model = models.get(nameOf(offer)) ?? offer.model;
      return provider.submit({ ...job, model }, { ...offer, model }, context);
    },
  };
}
