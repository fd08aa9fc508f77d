// The lifecycle state of an offer on a given day. Providers announce deprecations and retirements in advance.
import type { Lifecycle, Offer } from "../providers/provider.ts";

/** A day such as `2026-12-31`. Strings in this format compare in time order. */
export type IsoDate = string;

export const toIsoDate = (time: Date): IsoDate => time.toISOString().slice(0, 10);

/** A future retirement means deprecated until that day; a future deprecation means active until that day. */
export function effectiveLifecycle({ lifecycle }: Pick<Offer, "lifecycle">, today: IsoDate): Lifecycle {
  if (!lifecycle) return { state: "active" };
  const { state, since } = lifecycle;
  const isFuture = since !== undefined && since > today;
  if (!isFuture || state === "active") return lifecycle;
  return { ...lifecycle, state: state === "retired" ? "deprecated" : "active" };
}
