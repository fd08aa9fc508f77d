// Keys: the API keys of the tenant, newest first, and the sessions of the signed-in member. Keys that are not in force
// are shown on demand.
import type { Key } from "@gesso/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { keysQuery } from "../api/access.ts";
import { identityQuery, sessionQuery } from "../api/queries.ts";
import { formatDateTime } from "../format/time-of-day.ts";
import { Button } from "../parts/button.tsx";
import { classNames } from "../parts/class-names.ts";
import table from "../parts/data-table.module.css";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { Segments } from "../parts/segments.tsx";
import { SkeletonRows } from "../parts/skeleton-rows.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { type KeyDialog, KeyDialogs } from "./key-dialogs.tsx";
import { describeLimits, describeScopes, describeState, isInForce } from "./key-facts.ts";
import styles from "./keys-page.module.css";
import { SessionList } from "./session-list.tsx";

export function KeysPage() {
  const [dialog, setDialog] = useState<KeyDialog>();
  return (
    <>
      <TopBar title={text.navigation.keys}>
        <span className={styles.end}>
          <Button kind="primary" onClick={() => setDialog({ kind: "create" })}>
            <Icon of={Plus} />
            {text.keys.create}
          </Button>
        </span>
      </TopBar>
      <div className={styles.body}>
        <KeyList onAction={setDialog} />
        <SessionList />
      </div>
      {dialog && <KeyDialogs dialog={dialog} onClose={() => setDialog(undefined)} onChange={setDialog} />}
    </>
  );
}

const COLUMNS = 7;
type Filter = keyof typeof text.keys.filters;

/** The keys, newest first. Keys that are not in force are shown on demand. */
function KeyList({ onAction }: { onAction(dialog: KeyDialog): void }) {
  const [filter, setFilter] = useState<Filter>("active");
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(keysQuery);
  const { data: session } = useQuery(sessionQuery);
  const { data: identity } = useQuery(identityQuery);
  const now = Date.now();
  const all = data?.pages.flatMap((page) => page.data) ?? [];
  const shown = filter === "all" ? all : all.filter((key) => isInForce(key, now));
  const isOwner = identity?.role === "owner";
  return (
    <section className={table.section}>
      <div className={table.head}>
        <h2>{text.keys.heading}</h2>
        <span className={table.end}>
          <Segments
            label={text.keys.filter}
            isSmall
            options={Object.entries(text.keys.filters).map(([id, label]) => ({ id, label }))}
            value={filter}
            onChange={(id) => setFilter(id as Filter)}
          />
        </span>
      </div>
      {error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <table className={table.table}>
          <KeyTableHead isOwnerShown={isOwner} />
          <tbody>
            {isPending && <SkeletonRows columns={COLUMNS} />}
            {shown.map((key) => (
              <KeyRow
                key={key.id}
                apiKey={key}
                now={now}
                isOwnerShown={isOwner}
                isOwn={key.id === session?.key_id}
                onAction={onAction}
              />
            ))}
          </tbody>
        </table>
      )}
      {data && shown.length === 0 && (
        <EmptyState icon={KeyRound} title={text.keys.empty}>
          {text.keys.emptyNext}
        </EmptyState>
      )}
      {hasNextPage && (
        <div className={table.more}>
          <Button onClick={() => void fetchNextPage()}>{text.keys.more}</Button>
        </div>
      )}
    </section>
  );
}

/** The columns of the keys. Narrow screens leave some out. */
function KeyTableHead({ isOwnerShown }: { isOwnerShown: boolean }) {
  const { name, owner, scopes, limits, used, state } = text.keys.columns;
  return (
    <thead>
      <tr>
        <th scope="col">{name}</th>
        {isOwnerShown && (
          <th scope="col" className={table.second}>
            {owner}
          </th>
        )}
        <th scope="col" className={table.first}>
          {scopes}
        </th>
        <th scope="col" className={table.second}>
          {limits}
        </th>
        <th scope="col" className={table.first}>
          {used}
        </th>
        <th scope="col">{state}</th>
        <td className={table.actions} />
      </tr>
    </thead>
  );
}

type KeyRowProps = {
  apiKey: Key;
  now: number;
  isOwnerShown: boolean;
  /** Whether the session was started with this key. */
  isOwn: boolean;
  onAction(dialog: KeyDialog): void;
};

/** A key in the list. Its secret is never shown again; four letters identify it. */
function KeyRow({ apiKey, now, isOwnerShown, isOwn, onAction }: KeyRowProps) {
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
