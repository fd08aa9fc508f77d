// How much of a limit is used, and how much is held, hatched. Words beside it say the same.
import { classNames } from "./class-names.ts";
import { cssVariables } from "./css-variables.ts";
import styles from "./meter.module.css";

type MeterProps = { label: string; used: number; held: number; limit: number; state: "ok" | "warn" | "bad" };

export function Meter({ label, used, held, limit, state }: MeterProps) {
  const share = (amount: number) => (limit > 0 ? Math.min(100, Math.max(0, (amount / limit) * 100)) : 100);
  return (
    <span className={classNames(styles.meter, state !== "ok" && styles[state])} role="img" aria-label={label}>
      <span ref={cssVariables({ "--used": `${share(used)}%` })} className={styles.used} />
      <span ref={cssVariables({ "--held": `${share(held)}%` })} className={styles.held} />
    </span>
  );
}
