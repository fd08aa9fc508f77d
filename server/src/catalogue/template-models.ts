// Offers created with `like` behave like their template offer. Adapters can branch on the model ID, so `submit`
// receives the model ID of the template instead of the new one.
import type { Offer, Provider } from "../providers/provider.ts";

export type TemplatedOffer = { offer: Offer; like: Offer };

export function withTemplateModels(provider: Provider, templatedOffers: TemplatedOffer[]): Provider {
  if (templatedOffers.length === 0) return provider;
  const offerKey = ({ task, model, upstreamModel }: Offer) => [task, model, upstreamModel].join(" ");
  const models = new Map(templatedOffers.map(({ offer, like }) => [offerKey(offer), like.model]));
  return {
    ...provider,
    submit(job, offer, context) {
      const model = models.get(offerKey(offer)) ?? offer.model;
      return provider.submit({ ...job, model }, { ...offer, model }, context);
    },
  };
}
