// All providers: whether each is connected, what it unlocks at which prices, where its key comes from, and the button
// that connects it.
import type { SystemReport } from "@gesso/client";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { ConnectDialog } from "./connect-dialog.tsx";
import {
  countOffers,
  describeCheapest,
  describeState,
  type ListedProvider,
  listProviderEntries,
  type ProviderEntry,
  toneOf,
} from "./provider-facts.ts";
import styles from "./provider-list.module.css";
import { SetupDialog } from "./setup-dialog.tsx";
import pageStyles from "./system-page.module.css";

const words = text.system;

/** `isHere`: the key is entered here, not added to the settings of the server. */
type Opened = { listed: ListedProvider; isConnected: boolean; isHere: boolean };

export function ProviderList({ report }: { report: SystemReport }) {
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  return (
    <>
      <ul className={styles.list} aria-labelledby="providers">
        {listProviderEntries(report).map((entry) => (
          <ProviderRow key={entry.reported.name} entry={entry} onOpen={setOpened} />
        ))}
      </ul>
      {opened?.isHere === false && (
        <SetupDialog provider={opened.listed} isConnected={opened.isConnected} onClose={close} />
      )}
      {opened?.isHere && (
        <ConnectDialog
          provider={opened.listed}
          isReplacing={opened.isConnected}
          startedAt={report.started_at}
          onClose={close}
        />
      )}
    </>
  );
}

type ProviderRowProps = { entry: ProviderEntry; onOpen(opened: Opened): void };

function ProviderRow({ entry, onOpen }: ProviderRowProps) {
  const { reported, listed, isConnected, action } = entry;
  const name = listed?.name ?? reported.name;
  return (
    <li>
      <span className={styles.name}>
        <span className={pageStyles.strong}>{name}</span>
        {listed && <span className={styles.minor}>{listed.unlocks}</span>}
      </span>
      <span className={classNames(pageStyles.state, styles.state)}>
        <span className={classNames(pageStyles.dot, pageStyles[toneOf(reported)])} />
        <span>
          {describeState(entry)}
          {isConnected && listed && (
            <span className={styles.minor}>{words.keyState(words.keys[reported.key] ?? reported.key)}</span>
          )}
        </span>
      </span>
      <span className={styles.offers}>
        {listed ? countOffers(listed.offers) : isConnected && words.models(reported.known + reported.unasked)}
        {listed && <span className={styles.minor}>{describeCheapest(listed.offers)}</span>}
      </span>
      <span className={styles.key}>{listed && <KeySource provider={listed} />}</span>
      <span className={styles.action}>
        {listed && action && (
          <Button
            kind={action === "replace" ? "quiet" : "plain"}
            label={words.actionFor(words.actions[action], name)}
            onClick={() => onOpen({ listed, isConnected, isHere: action === "connect" || action === "replace" })}
          >
            {words.actions[action]}
          </Button>
        )}
      </span>
    </li>
  );
}

function KeySource({ provider: { name, key_page } }: { provider: ListedProvider }) {
  if (!key_page) return <span className={styles.minor}>{words.ownServers}</span>;
  const host = new URL(key_page).hostname;
  return (
    <a href={key_page} target="_blank" rel="noreferrer" aria-label={words.keyPage(name, host)}>
      {host}
      <Icon of={ExternalLink} size="s" />
    </a>
  );
}
