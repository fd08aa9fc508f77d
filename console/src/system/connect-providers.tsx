// The providers that are not connected: what each unlocks, where its key comes from, and the command that connects it.
// Keys are not typed into the console: the command line asks for them and keeps them where the server reads them.
import { ExternalLink } from "lucide-react";
import providers from "../generated/providers.json" with { type: "json" };
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./connect-providers.module.css";
import pageStyles from "./system-page.module.css";

const words = text.system;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

type ConnectProvidersProps = { off: readonly string[]; host?: string };

export function ConnectProviders({ off, host = location.hostname }: ConnectProvidersProps) {
  const listed = providers.filter(({ id }) => off.includes(id));
  if (listed.length === 0) return null;
  const others = off.filter((name) => !listed.some(({ id }) => id === name));
  const isLocal = LOOPBACK.includes(host);
  return (
    <section aria-labelledby="connect">
      <div className={pageStyles.head}>
        <h2 id="connect">{words.connect}</h2>
      </div>
      <p className={styles.how}>{isLocal ? words.connectLocal : words.connectServer}</p>
      <ul className={styles.list} aria-labelledby="connect">
        {listed.map(({ id, name, unlocks, keyPage }) => {
          const command = `gesso providers connect ${id}${isLocal ? "" : " --production"}`;
          return (
            <li key={id}>
              <span className={pageStyles.strong}>{name}</span>
              <span className={styles.unlocks}>{unlocks}</span>
              {keyPage ? (
                <a
                  href={keyPage}
                  target="_blank"
                  rel="noreferrer"
                  aria-label={words.keyPage(name, new URL(keyPage).hostname)}
                >
                  {new URL(keyPage).hostname}
                  <Icon of={ExternalLink} size="s" />
                </a>
              ) : (
                <span className={styles.unlocks}>{words.ownServers}</span>
              )}
              <span className={styles.command}>
                <code className="mono">{command}</code>
                <CopyButton value={command} label={words.copyCommand(command)} isIconOnly />
              </span>
            </li>
          );
        })}
      </ul>
      {others.length > 0 && <p className={styles.how}>{words.alsoOff(others.join(", "))}</p>}
    </section>
  );
}
