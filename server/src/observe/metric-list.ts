// Every metric that a process exports, declared once: its kind, unit, labels and meaning. The reference page is
// generated from this list. Labels have few values: never the id of a tenant or a run.

type MetricDefinition = {
  kind: "counter" | "histogram" | "gauge";
  /** As OpenTelemetry writes it: `s` for seconds, `{run}` for a number of runs. */
  unit: string;
  help: string;
  labels: readonly string[];
};

const define = <const List extends Record<string, MetricDefinition>>(list: List) => list;

export const METRICS = define({
  "http.server.request.duration": {
    kind: "histogram",
    unit: "s",
    help: "Time until a response began",
    labels: ["http.request.method", "http.route", "http.response.status_code"],
  },
  "gesso.runs.ended": {
    kind: "counter",
    unit: "{run}",
    help:
      "Runs that ended, by operation and status, and failed ones by the code of their error. Each run is counted once, " +
      "by the worker that adds it to the usage",
    labels: ["operation", "status", "error_code"],
  },
  "gesso.attempts.ended": {
    kind: "counter",
    unit: "{attempt}",
    help: "Attempts of runs that ended, by provider and outcome: succeeded, failed, unknown or abandoned",
    labels: ["provider", "outcome"],
  },
  "gesso.money.wasted": {
    kind: "counter",
    unit: "USD",
    help: "Charges of providers, certain or possible, for which a caller got nothing, of runs that ended",
    labels: [],
  },
  "gesso.queue.depth": {
    kind: "gauge",
    unit: "{run}",
    help: "Runs that wait to be dispatched, by the provider they are planned for",
    labels: ["provider"],
  },
  "gesso.queue.oldest_age": {
    kind: "gauge",
    unit: "s",
    help: "Age of the oldest run that waits to be dispatched",
    labels: ["provider"],
  },
  "gesso.runs.not_started": {
    kind: "gauge",
    unit: "{run}",
    help: "Runs that were dispatched more than a second ago and have not started",
    labels: [],
  },
  "gesso.runs.open": { kind: "gauge", unit: "{run}", help: "Runs that have not ended", labels: ["status"] },
  "gesso.runs.requeued": {
    kind: "gauge",
    unit: "{run}",
    help: "Open runs in a second or later epoch: a worker or the engine lost them once",
    labels: [],
  },
  "gesso.runs.quarantined": {
    kind: "gauge",
    unit: "{run}",
    help: "Open runs that are not executed until an operator retries or ends them",
    labels: [],
  },
  "gesso.requests.open": {
    kind: "gauge",
    unit: "{request}",
    help: "Requests to providers in progress, by what they wait for",
    labels: ["provider", "activity"],
  },
  "gesso.attempts.unknown": {
    kind: "gauge",
    unit: "{attempt}",
    help: "Attempts of open runs whose outcome is unknown: the provider may have accepted a paid job",
    labels: ["provider"],
  },
  "gesso.circuit_breakers.open": {
    kind: "gauge",
    unit: "{offer}",
    help: "Offers that are not used because they failed repeatedly",
    labels: ["provider"],
  },
  "gesso.leases.held": {
    kind: "gauge",
    unit: "{lease}",
    help: "Leases of duties and workers that are held",
    labels: [],
  },
  "gesso.events.horizon_lag": {
    kind: "gauge",
    unit: "s",
    help: "Age of the oldest event that cannot be read yet, because an older transaction is still open",
    labels: [],
  },
  "gesso.webhooks.fan_out_lag": {
    kind: "gauge",
    unit: "s",
    help: "Age of the oldest event that has not become deliveries yet",
    labels: [],
  },
  "gesso.webhooks.backlog": {
    kind: "gauge",
    unit: "{delivery}",
    help: "Deliveries that are due and not delivered",
    labels: [],
  },
  "gesso.webhooks.oldest_age": {
    kind: "gauge",
    unit: "s",
    help: "How long the oldest due delivery has been due",
    labels: [],
  },
  "gesso.webhooks.set_aside_events": {
    kind: "gauge",
    unit: "{event}",
    help: "Events that could not become deliveries and are tried again later",
    labels: [],
  },
  "gesso.outbox.depth": {
    kind: "gauge",
    unit: "{item}",
    help: "Files to delete and jobs to cancel that are not done yet",
    labels: [],
  },
  "gesso.index.lag": {
    kind: "gauge",
    unit: "s",
    help: "Age of the oldest run that lists and searches do not find yet",
    labels: [],
  },
  "gesso.money.reserved": {
    kind: "gauge",
    unit: "USD",
    help: "Money that open runs have reserved",
    labels: [],
  },
  "gesso.database.locks": {
    kind: "gauge",
    unit: "1",
    help: "Share of the lock table of PostgreSQL that is in use",
    labels: [],
  },
  "gesso.database.pool_wait": {
    kind: "gauge",
    unit: "s",
    help: "How long the oldest statement of this process has waited for a connection",
    labels: [],
  },
  "gesso.installation.read_age": {
    kind: "gauge",
    unit: "s",
    help: "Age of the figures that this process read from PostgreSQL. It grows while PostgreSQL does not respond",
    labels: [],
  },
  "gesso.decoder.failures": {
    kind: "counter",
    unit: "{image}",
    help: "Images that crashed or stalled the process that decoded them",
    labels: [],
  },
  "gesso.storage.failures": {
    kind: "counter",
    unit: "{operation}",
    help: "Failed operations on the storage",
    labels: ["operation"],
  },
});

export type MetricName = keyof typeof METRICS;
type NamesOf<Kind extends MetricDefinition["kind"]> = {
  [Name in MetricName]: (typeof METRICS)[Name]["kind"] extends Kind ? Name : never;
}[MetricName];
export type CounterName = NamesOf<"counter">;
export type HistogramName = NamesOf<"histogram">;
export type GaugeName = NamesOf<"gauge">;
export type LabelsOf<Name extends MetricName> = Record<(typeof METRICS)[Name]["labels"][number], string>;

const UNIT_SUFFIXES: Record<string, string> = { s: ".seconds", USD: ".dollars", "1": ".ratio" };

/** The name with its unit, as Prometheus wants it. Prometheus reads dots as underscores. */
export const nameWithUnit = (name: MetricName): string => `${name}${UNIT_SUFFIXES[METRICS[name].unit] ?? ""}`;
