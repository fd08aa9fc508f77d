// What the installation offers for a model in an operation: the price of the offer that Gesso tries first, and the
// providers.
import type { ModelCatalogue } from "@gesso/client";

export type ModelOffer = {
  price: number | null;
  /** The unit of the price. */
  per: string;
  providers: readonly string[];
};

/** Undefined if the catalogue does not know the operation, so that nothing is said about its models. */
export function findModelOffer(catalogue: ModelCatalogue, operation: string, model: string): ModelOffer | undefined {
  const tasks = catalogue.tasks.filter(({ operations }) => operations.includes(operation)).map(({ task }) => task);
  const offers = (catalogue.models.find((each) => each.model === model)?.offers ?? []).filter(({ task }) =>
    tasks.includes(task),
  );
  const first = offers.find(({ preferred }) => preferred) ?? offers[0];
  if (!first) return undefined;
  return { price: first.price, per: first.per, providers: [...new Set(offers.map(({ provider }) => provider))] };
}
