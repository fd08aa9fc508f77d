// The price of a request as it stands on a button: an amount, "Free", or "unknown".
import { formatMoney } from "../format/money.ts";
import type { Price } from "../make/price-sum.ts";
import { text } from "../text/text.ts";

export function priceLabel({ amount }: Pick<Price, "amount">): string {
  if (amount === undefined) return "…";
  if (amount === null) return text.make.priceUnknown;
  return amount === 0 ? text.make.free : formatMoney(amount);
}
