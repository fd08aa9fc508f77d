// A body exactly as it was sent: every character, with colours for keys and texts.
import styles from "./delivery.module.css";
import { splitJson } from "./json-parts.ts";

export function ExactBody({ body, label }: { body: string; label: string }) {
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reachable by keyboard */}
      <pre className={styles.code} tabIndex={0}>
        {splitJson(body).map(({ kind, text, at }) =>
          kind === "rest" ? (
            text
          ) : (
            <span key={at} className={kind === "key" ? styles.key : styles.text}>
              {text}
            </span>
          ),
        )}
      </pre>
    </section>
  );
}
