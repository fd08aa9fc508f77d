// How an offer stands on a day: vendors announce the end of a model long before it comes.
import type { Lifecycle, Offer } from "../providers/provider.ts";

/** A day as `2026-12-31`, so that days compare as words do. */
export type IsoDate = string;

export const toIsoDate = (time: Date): IsoDate => time.toISOString().slice(0, 10);

/** What is to be retired on a later day is deprecated until then; what is to be deprecated later is not yet. */
export function effectiveLifecycle({ lifecycle }: Pick<Offer, "lifecycle">, today: IsoDate): Lifecycle {
  if (!lifecycle) return { state: "active" };
  const { state, since } = lifecycle;
  const isAhead = since !== undefined && since > today;
  if (!isAhead || state === "active") return lifecycle;
  return { ...lifecycle, state: state === "retired" ? "deprecated" : "active" };
}
