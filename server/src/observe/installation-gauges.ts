// Turns the figures of the installation into gauges. They are read at most every five seconds, however often the
// process is scraped. After a failed read the gauges are NaN, and only the age of the last figures grows.
import type { InstallationFigures } from "../db/installation-figures.ts";
import type { GaugeName } from "./metric-list.ts";
import type { GaugeValue, Metrics } from "./metrics.ts";

type ByProvider = InstallationFigures["open_breakers"];

type Source = {
  read(): Promise<InstallationFigures>;
  /** Providers that have a series also while nothing waits for them, so that an alert does not see a gap. */
  providers: readonly string[];
  clock: { monotonic(): number };
};

const CACHE_MS = 5000;

const NAMES: readonly GaugeName[] = [
  ...(["gesso.queue.depth", "gesso.queue.oldest_age", "gesso.runs.not_started", "gesso.runs.open"] as const),
  ...(["gesso.runs.requeued", "gesso.requests.open", "gesso.attempts.unknown", "gesso.money.reserved"] as const),
  ...(["gesso.circuit_breakers.open", "gesso.leases.held", "gesso.outbox.depth"] as const),
  ...(["gesso.events.horizon_lag", "gesso.webhooks.fan_out_lag", "gesso.webhooks.backlog"] as const),
  ...(["gesso.webhooks.oldest_age", "gesso.webhooks.set_aside_events", "gesso.index.lag"] as const),
  ...(["gesso.runs.quarantined", "gesso.database.locks"] as const),
];

export function observeInstallation(metrics: Metrics, { read, providers, clock }: Source): void {
  const startedAt = clock.monotonic();
  let latest: { at: number; values: GaugeValue[] } | undefined;
  let pending: Promise<GaugeValue[]> | undefined;
  const refresh = async () => {
    try {
      const values = toGauges(await read(), providers);
      latest = { at: clock.monotonic(), values };
      return values;
    } finally {
      pending = undefined;
    }
  };
  metrics.observe(NAMES, async () => {
    if (latest && clock.monotonic() - latest.at < CACHE_MS) return latest.values;
    pending ??= refresh();
    return pending;
  });
  metrics.observe(["gesso.installation.read_age"], async () => [
    { name: "gesso.installation.read_age", value: (clock.monotonic() - (latest?.at ?? startedAt)) / 1000, labels: {} },
  ]);
}

function toGauges(figures: InstallationFigures, providers: readonly string[]): GaugeValue[] {
  const empty = providers.filter((provider) => figures.queues.every((queue) => queue.provider !== provider));
  const queues = [...figures.queues, ...empty.map((provider) => ({ provider, depth: 0, oldest_age: 0 }))];
  const perProvider = (name: "gesso.attempts.unknown" | "gesso.circuit_breakers.open", rows: ByProvider) =>
    [...new Set([...providers, ...rows.map(({ provider }) => provider)])].map((provider): GaugeValue => {
      const found = rows.find((row) => row.provider === provider);
      return { name, value: found?.count ?? 0, labels: { provider } };
    });
  return [
    ...queues.flatMap(({ provider, depth, oldest_age }): GaugeValue[] => [
      { name: "gesso.queue.depth", value: depth, labels: { provider } },
      { name: "gesso.queue.oldest_age", value: oldest_age, labels: { provider } },
    ]),
    ...figures.requests.map(({ provider, activity, count }): GaugeValue => {
      return { name: "gesso.requests.open", value: count, labels: { provider, activity } };
    }),
    ...perProvider("gesso.attempts.unknown", figures.unknown_attempts),
    ...perProvider("gesso.circuit_breakers.open", figures.open_breakers),
    { name: "gesso.runs.open", value: figures.queued, labels: { status: "queued" } },
    { name: "gesso.runs.open", value: figures.processing, labels: { status: "processing" } },
    { name: "gesso.runs.not_started", value: figures.not_started, labels: {} },
    { name: "gesso.runs.requeued", value: figures.requeued, labels: {} },
    { name: "gesso.runs.quarantined", value: figures.quarantined, labels: {} },
    { name: "gesso.money.reserved", value: figures.reserved, labels: {} },
    { name: "gesso.leases.held", value: figures.leases_held, labels: {} },
    { name: "gesso.events.horizon_lag", value: figures.horizon_lag, labels: {} },
    { name: "gesso.webhooks.fan_out_lag", value: figures.fan_out_lag, labels: {} },
    { name: "gesso.webhooks.backlog", value: figures.webhook_backlog, labels: {} },
    { name: "gesso.webhooks.oldest_age", value: figures.webhook_oldest_age, labels: {} },
    { name: "gesso.webhooks.set_aside_events", value: figures.set_aside_events, labels: {} },
    { name: "gesso.outbox.depth", value: figures.outbox_depth, labels: {} },
    { name: "gesso.index.lag", value: figures.index_lag, labels: {} },
    { name: "gesso.database.locks", value: figures.lock_share, labels: {} },
  ];
}
