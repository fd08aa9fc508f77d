// The button that starts a run, with its price. The width of the price is reserved.
import { useEffect, useRef } from "react";
import type { Price } from "../make/price-sum.ts";
import { classNames } from "../parts/class-names.ts";
import { text } from "../text/text.ts";
import styles from "./panel.module.css";
import { priceLabel } from "./price-label.ts";

type SpendButtonProps = { label: string; price: Price; isDisabled: boolean };

export function SpendButton({ label, price, isDisabled }: SpendButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      event.preventDefault();
      button.current?.click();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  return (
    <button
      ref={button}
      type="submit"
      className={classNames(styles.spend, isDisabled && styles.off)}
      disabled={isDisabled}
      aria-keyshortcuts="Control+Enter Meta+Enter"
    >
      <span>{label}</span>
      <span className={styles.price}>
        <span className="visually-hidden">{text.make.price} </span>
        {priceLabel(price)}
      </span>
      <span aria-hidden="true" className={styles.keys}>
        ⌘↵
      </span>
    </button>
  );
}
