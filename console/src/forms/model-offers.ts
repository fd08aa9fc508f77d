// What the installation offers for a model in an operation: the names that a request can use, the price of the offer
// that Gesso tries first, and the providers.
import type { CatalogueOffer, ModelCatalogue } from "@gesso/client";

export type ModelOffer = {
  price: number | null;
  /** The unit of the price. */
  per: string;
  providers: readonly string[];
  /** What people call the model that does the work. */
  displayName: string | undefined;
};

type NamedOffer = CatalogueOffer & { model: string };

/** Names with which Gesso itself asks for the preferred model of a task, and for its own work on files. */
const isInternalName = (name: string) => name.endsWith("-default") || name === "local";

/** The offers for the tasks of the operation. None if the catalogue does not know the operation. */
function listOffers(catalogue: ModelCatalogue, operation: string): NamedOffer[] {
  const tasks = catalogue.tasks.filter(({ operations }) => operations.includes(operation)).map(({ task }) => task);
  return catalogue.models.flatMap(({ model, offers }) =>
    offers.filter(({ task }) => tasks.includes(task)).map((offer) => ({ ...offer, model })),
  );
}

/** `model`: undefined for the one that the operator prefers. Undefined if nothing is known about it. */
export function findModelOffer(
  catalogue: ModelCatalogue,
  operation: string,
  model: string | undefined,
): ModelOffer | undefined {
  const isMeant = (offer: NamedOffer) =>
    model === undefined
      ? offer.model.endsWith("-default")
      : [offer.model, offer.model_id, offer.model_name, offer.name].includes(model);
  const offers = listOffers(catalogue, operation).filter(isMeant);
  const first = offers.find(({ preferred }) => preferred) ?? offers[0];
  if (!first) return undefined;
  return {
    ...{ price: first.price, per: first.per, providers: [...new Set(offers.map(({ provider }) => provider))] },
    displayName: first.model_name ?? undefined,
  };
}

/** The known names of the form, then names of the operator, then the models as people call them. */
export function listModelNames(
  catalogue: ModelCatalogue | undefined,
  operation: string,
  known: readonly string[],
): string[] {
  const offers = catalogue
    ? listOffers(catalogue, operation).filter(({ lifecycle }) => lifecycle.state !== "retired")
    : [];
  const own = offers.map(({ model }) => model).filter((name) => !isInternalName(name));
  const ids = offers.flatMap(({ model_id }) => model_id ?? []).toSorted();
  return [...new Set([...known, ...own, ...ids])];
}
