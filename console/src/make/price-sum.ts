// Adds the prices of the requests of a draft.
import type { Estimate } from "@gesso/client";
import { addMoney } from "../format/money.ts";

export type Price = {
  /** The sum in US dollars; null if a price is unknown; undefined before the first response. */
  amount: number | null | undefined;
  /** One price for each request. */
  amounts: readonly (number | null)[];
  basis: Estimate["basis"];
  /** The runs may cost less: the responses of the providers decide. */
  isBound: boolean;
  /** The server refused to estimate a request, because a field is missing or not valid. */
  isIncomplete: boolean;
};

/** `null` stands for a request whose price could not be asked, because it is not valid yet. */
export function sumPrices(
  estimates: readonly (Pick<Estimate, "amount" | "at_most" | "basis"> | null | undefined)[],
): Price {
  const amounts = estimates.map((each) => each?.amount ?? null);
  const basis = estimates.flatMap((each) => each?.basis ?? []);
  const isIncomplete = estimates.includes(null);
  const about = { amounts, basis, isIncomplete, isBound: estimates.some((each) => each?.at_most) };
  if (estimates.some((each) => each === undefined)) return { amount: undefined, ...about };
  const isKnown = amounts.every((amount) => amount !== null);
  return { amount: isKnown ? addMoney(amounts.map((amount) => amount ?? 0)) : null, ...about };
}
