// What the draft costs and why, and the button that starts it.
import { formatMoney } from "../format/money.ts";
import { PricedButton } from "../parts/priced-button.tsx";
import { text } from "../text/text.ts";
import { type Draft, requestsOf } from "./draft.ts";
import styles from "./make-form.module.css";
import { PriceLine } from "./price-line.tsx";
import type { Price } from "./price-sum.ts";

type RunFooterProps = { draft: Draft; price: Price; isStarting: boolean };

function priceText({ amount, isIncomplete }: Pick<Price, "amount" | "isIncomplete">): string {
  if (amount === undefined) return "…";
  if (isIncomplete) return text.make.priceLater;
  if (amount === null) return text.make.priceUnknown;
  return amount === 0 ? text.make.free : formatMoney(amount);
}

export function RunFooter({ draft, price, isStarting }: RunFooterProps) {
  const missing = draft.form.fields.find(
    ({ name, isRequired, isLong }) => isRequired && isLong && draft.values[name] === undefined,
  );
  const count = requestsOf(draft).length;
  const words = count > 1 ? text.make.runOn(count) : text.make.run;
  return (
    <div className={styles.foot}>
      <PriceLine price={price} />
      <PricedButton
        label={missing ? text.make.enterPrompt(missing.label) : isStarting ? text.make.running : words}
        price={priceText(price)}
        isDisabled={missing !== undefined}
      />
    </div>
  );
}
