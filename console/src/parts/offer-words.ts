// What an offer costs and does, in words.
import { formatMoney } from "../format/money.ts";
import { text } from "../text/text.ts";

/** `price`: in US dollars per unit of `per`; null if it is unknown, a bound with `at_most`. */
export type OfferPrice = { price: number | null; per: string; at_most: boolean };

export function formatPrice({ price, at_most }: Pick<OfferPrice, "price" | "at_most">): string {
  if (price === null) return text.models.unknownPrice;
  if (price === 0) return text.models.free;
  return at_most ? text.models.atMost(formatMoney(price)) : formatMoney(price);
}

export const formatUnit = ({ price, per }: Pick<OfferPrice, "price" | "per">): string =>
  price ? ((text.models.per as Record<string, string>)[per] ?? per) : "";

export const taskLabel = (task: string): string => (text.models.tasks as Record<string, string>)[task] ?? task;
