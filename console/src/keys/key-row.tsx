// A key in the list. Its secret is never shown again; four letters identify it.
import type { Key } from "@gesso/client";
import { formatDateTime } from "../format/time-of-day.ts";
import { classNames } from "../parts/class-names.ts";
import table from "../parts/data-table.module.css";
import { RowMenu } from "../parts/row-menu.tsx";
import { text } from "../text/text.ts";
import type { KeyDialog } from "./key-dialogs.tsx";
import { describeLimits, describeScopes, describeState, isInForce } from "./key-facts.ts";
import styles from "./keys-page.module.css";

type KeyRowProps = {
  apiKey: Key;
  now: number;
  isOwnerShown: boolean;
  /** Whether the session was started with this key. */
  isOwn: boolean;
  onAction(dialog: KeyDialog): void;
};

export function KeyRow({ apiKey, now, isOwnerShown, isOwn, onAction }: KeyRowProps) {
  const [limit, ...others] = describeLimits(apiKey.limits);
  const isActive = isInForce(apiKey, now);
  return (
    <tr className={classNames(!isActive && table.off)}>
      <td>
        <span className={styles.name}>
          <span className={table.strong}>{apiKey.name}</span>
          <span className={classNames("mono", table.quiet)}>{text.keys.hint(apiKey.hint)}</span>
          {isOwn && <span className={styles.tag}>{text.keys.ownKey}</span>}
        </span>
        <span className={table.narrow}>{describeScopes(apiKey.scopes)}</span>
      </td>
      {isOwnerShown && <td className={table.second}>{apiKey.user_id}</td>}
      <td className={table.first}>{describeScopes(apiKey.scopes)}</td>
      <td className={table.second}>
        {limit ?? <span className={table.quiet}>{text.keys.noLimits}</span>}
        {others.length > 0 && (
          <span className={table.sub} title={others.join(", ")}>
            {text.keys.moreLimits(others.length)}
          </span>
        )}
      </td>
      <td className={table.first}>{apiKey.last_used_at ? formatDateTime(apiKey.last_used_at) : text.keys.never}</td>
      <td>{describeState(apiKey, now)}</td>
      <td className={table.actions}>
        {isActive && (
          <RowMenu
            label={text.keys.actions(apiKey.name)}
            actions={[
              // A key cannot replace itself.
              ...(isOwn ? [] : [{ label: text.keys.rotate, run: () => onAction({ kind: "rotate", key: apiKey }) }]),
              { label: text.keys.revoke, run: () => onAction({ kind: "revoke", key: apiKey, isOwn }) },
            ]}
          />
        )}
      </td>
    </tr>
  );
}
