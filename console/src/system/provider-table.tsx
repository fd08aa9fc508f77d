// The connected providers as the doctor sees them: state, key and models.
import type { SystemReport } from "@gesso/client";
import { formatClock } from "../format/time.ts";
import { classNames } from "../parts/class-names.ts";
import tableStyles from "../parts/table.module.css";
import { text } from "../text/text.ts";
import styles from "./system-page.module.css";

type Provider = SystemReport["providers"][number];
const words = text.system;
const { table, number, minor } = tableStyles;

export function ProviderTable({ providers }: { providers: readonly Provider[] }) {
  const enabled = providers.filter(({ key }) => key !== "off");
  return (
    <div className={styles.scroll}>
      <table className={classNames(table, styles.providers)}>
        <thead>
          <tr>
            <th scope="col">{words.provider}</th>
            <th scope="col">{words.state}</th>
            <th scope="col">{words.key}</th>
            <th scope="col" className={number}>
              {words.models}
            </th>
          </tr>
        </thead>
        <tbody>
          {enabled.map((provider) => (
            <tr key={provider.name}>
              <td className={styles.strong}>{provider.name}</td>
              <td>
                <span className={styles.state}>
                  <span className={classNames(styles.dot, styles[toneOf(provider)])} />
                  {describe(provider)}
                </span>
              </td>
              <td className={minor}>{words.keys[provider.key] ?? provider.key}</td>
              <td className={number}>{words.modelCount(provider.known, provider.unasked)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const toneOf = ({ status, open_until }: Provider) => (status === "pass" && open_until ? "warn" : status);

function describe({ status, message, fix, missing, open_until }: Provider): string {
  if (open_until) return words.paused(formatClock(open_until));
  const state = words.statuses[status] ?? status;
  if (missing.length > 0) return `${state}. ${words.missing(missing.join(", "))}`;
  if (status === "pass") return `${state}, ${message}`;
  return `${state}: ${message}${fix ? `. ${fix}` : ""}`;
}
