// Classes of a button, for buttons and for links that look like one.
import styles from "./button.module.css";
import { classNames } from "./class-names.ts";

export type ButtonLook = {
  kind?: "plain" | "primary" | "quiet" | "danger" | undefined;
  size?: "s" | "m" | "l" | undefined;
  /** A square button with an icon and no words. */
  isIconOnly?: boolean | undefined;
};

export const buttonClass = ({ kind = "plain", size = "m", isIconOnly = false }: ButtonLook = {}): string =>
  classNames(styles.button, kind !== "plain" && styles[kind], size !== "m" && styles[size], isIconOnly && styles.only);
