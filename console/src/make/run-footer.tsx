// What the draft costs and why, and the button that starts it. The price is part of the button and its width is
// reserved.
import { useEffect, useRef } from "react";
import { formatMoney } from "../format/money.ts";
import { classNames } from "../parts/class-names.ts";
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
  const button = useRef<HTMLButtonElement>(null);
  useRunShortcut(button);
  const missing = draft.form.fields.find(
    ({ name, isRequired, isLong }) => isRequired && isLong && draft.values[name] === undefined,
  );
  const count = requestsOf(draft).length;
  const words = count > 1 ? text.make.runOn(count) : text.make.run;
  return (
    <div className={styles.foot}>
      <PriceLine price={price} />
      <button
        ref={button}
        type="submit"
        className={classNames(styles.run, missing && styles.off)}
        disabled={missing !== undefined}
        aria-keyshortcuts="Control+Enter Meta+Enter"
      >
        <span>{missing ? text.make.enterPrompt(missing.label) : isStarting ? text.make.running : words}</span>
        <span className={styles.price}>
          <span className="visually-hidden">{text.make.price} </span>
          {priceText(price)}
        </span>
        <kbd>⌘↵</kbd>
      </button>
    </div>
  );
}

/** Ctrl or ⌘ with Enter presses the button, wherever the focus is on the page. */
function useRunShortcut(button: { readonly current: HTMLButtonElement | null }): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      event.preventDefault();
      button.current?.click();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [button]);
}
