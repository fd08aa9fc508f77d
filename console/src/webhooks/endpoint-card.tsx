// An endpoint: its health, events and latest deliveries. Pressing it shows only its deliveries.
import type { Webhook } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { classNames } from "../parts/class-names.ts";
import { RowMenu } from "../parts/row-menu.tsx";
import { text } from "../text/text.ts";
import { deliveredShare, toneOf } from "./delivery-facts.ts";
import { endpointName } from "./endpoint-name.ts";
import { formatMoment } from "./moment.ts";
import { recentDeliveriesQuery } from "./webhook-queries.ts";
import styles from "./webhooks-page.module.css";

export type EndpointAction = "test" | "edit" | "rotate" | "replay" | "enable" | "disable" | "remove";

type EndpointCardProps = {
  endpoint: Webhook;
  isSelected: boolean;
  now: number;
  onSelect(): void;
  onAction(action: EndpointAction): void;
};

const words = text.webhooks;
const ALL_EVENTS = 8;
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

export function EndpointCard({ endpoint, isSelected, now, onSelect, onAction }: EndpointCardProps) {
  const { data: recent = [] } = useQuery(recentDeliveriesQuery(endpoint.id));
  const share = deliveredShare(recent);
  const name = endpointName(endpoint.url);
  const health = endpoint.enabled ? (endpoint.failing_since ? "warn" : "ok") : "off";
  const actions: EndpointAction[] = [
    ...(["test", "edit", "rotate", "replay"] as const),
    endpoint.enabled ? "disable" : "enable",
    "remove",
  ];
  return (
    <li className={classNames(styles.endpoint, isSelected && styles.selected)}>
      <div className={styles.endpointHead}>
        <span className={classNames(styles.dot, styles[health])} />
        <button
          type="button"
          className={styles.endpointName}
          aria-pressed={isSelected}
          title={endpoint.url}
          onClick={onSelect}
        >
          {name}
        </button>
        <span className={styles.caption}>{share !== undefined && percent.format(share)}</span>
        <RowMenu
          label={words.actions(name)}
          actions={actions.map((action) => ({ label: words[action], run: () => onAction(action) }))}
        />
      </div>
      <p className={classNames(styles.caption, "clip")}>{describeState(endpoint, now)}</p>
      <RecentStrip recent={recent} />
    </li>
  );
}

function describeState(endpoint: Webhook, now: number): string {
  if (!endpoint.enabled) return words.disabledReasons[endpoint.disabled_reason ?? "asked"] ?? "";
  const events = endpoint.events.length >= ALL_EVENTS ? words.allEvents : endpoint.events.join(", ");
  return endpoint.failing_since ? `${words.failing(formatMoment(endpoint.failing_since, now))} · ${events}` : events;
}

const STRIP = 24;

function RecentStrip({ recent }: { recent: readonly { id: string; status: string; attempts: number }[] }) {
  const shown = recent.slice(0, STRIP).toReversed();
  return (
    <div className={styles.strip} aria-hidden="true">
      {Array.from({ length: STRIP - shown.length }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: places without a delivery have no identity
        <i key={index} className={styles.blank} />
      ))}
      {shown.map((delivery) => (
        <i key={delivery.id} className={styles[toneOf(delivery as Parameters<typeof toneOf>[0])]} />
      ))}
    </div>
  );
}
