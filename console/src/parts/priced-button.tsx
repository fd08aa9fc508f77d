// The button that starts a run, with its price. The width of the price is reserved. Ctrl or ⌘ with Enter presses the
// button, wherever the focus is on the page.
import { useEffect, useRef } from "react";
import { text } from "../text/text.ts";
import { classNames } from "./class-names.ts";
import styles from "./priced-button.module.css";

type PricedButtonProps = { label: string; price: string; isDisabled: boolean };

export function PricedButton({ label, price, isDisabled }: PricedButtonProps) {
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
      className={classNames(styles.button, isDisabled && styles.off)}
      disabled={isDisabled}
      aria-keyshortcuts="Control+Enter Meta+Enter"
    >
      <span>{label}</span>
      <span className={styles.price}>
        <span className="visually-hidden">{text.make.price} </span>
        {price}
      </span>
      <kbd>⌘↵</kbd>
    </button>
  );
}
