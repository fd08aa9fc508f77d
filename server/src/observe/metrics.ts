// The metrics of a process, served in the format of Prometheus on a port of their own. Without METRICS_PORT nothing is
// counted and no port is opened.
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { z } from "zod";
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  METRICS,
  nameWithUnit,
} from "./metric-list.ts";

export const MetricsEnv = z.object({
  METRICS_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe("Port that serves metrics under /metrics, without authentication. Default: no metrics"),
  METRICS_HOST: z
    .string()
    .default("127.0.0.1")
    .describe("IP address that the metrics are served on. Keep it in a private network"),
});

export type GaugeValue<Name extends GaugeName = GaugeName> = Name extends GaugeName
  ? { name: Name; value: number; labels: LabelsOf<Name> }
  : never;

export type Metrics = {
  /** Without METRICS_PORT nothing is counted, so what only prepares figures can be left out. */
  isEnabled: boolean;
  /** Default: by one. */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  record<Name extends HistogramName>(name: Name, value: number, labels: LabelsOf<Name>): void;
  /**
   * `read` is called at each scrape. If it rejects, these gauges are not a number (NaN), which no alert takes for a
   * figure. A series that `read` no longer returns is zero.
   */
  observe(names: readonly GaugeName[], read: () => Promise<GaugeValue[]>): void;
};

export const NO_METRICS: Metrics = { isEnabled: false, count: () => {}, record: () => {}, observe: () => {} };

/** Bounds of durations in seconds: those of OpenTelemetry for HTTP servers, and longer ones for waiting requests. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60];

export type MetricsServer = { metrics: Metrics; start(): Promise<void>; close(): Promise<void> };

export function createMetrics(
  { METRICS_PORT: port, METRICS_HOST: host }: z.output<typeof MetricsEnv>,
  about: { role: string; version: string },
): MetricsServer {
  if (port === undefined) return { metrics: NO_METRICS, start: async () => {}, close: async () => {} };
  const exporter = new PrometheusExporter({ port, host, preventServerStart: true, withoutScopeInfo: true });
  const resource = resourceFromAttributes({
    "service.name": "gesso",
    "service.version": about.version,
    "gesso.role": about.role,
  });
  const provider = new MeterProvider({ resource, readers: [exporter] });
  return {
    metrics: createInstruments(provider),
    start: () => exporter.startServer(),
    close: () => provider.shutdown(),
  };
}

function createInstruments(provider: MeterProvider): Metrics {
  const meter = provider.getMeter("gesso");
  const describe = (name: keyof typeof METRICS) => ({ description: METRICS[name].help });
  const counters = new Map(
    namesOf("counter").map((name) => [name, meter.createCounter(nameWithUnit(name), describe(name))]),
  );
  const histograms = new Map(
    namesOf("histogram").map((name) => [
      name,
      meter.createHistogram(nameWithUnit(name), {
        ...describe(name),
        advice: { explicitBucketBoundaries: DURATION_BUCKETS },
      }),
    ]),
  );
  return {
    isEnabled: true,
    count: (name, labels, by = 1) => counters.get(name)?.add(by, labels),
    record: (name, value, labels) => histograms.get(name)?.record(value, labels),
    observe(names, read) {
      const gauges = new Map(
        names.map((name) => [name, meter.createObservableGauge(nameWithUnit(name), describe(name))]),
      );
      // The SDK repeats the last value of a series that is not observed again.
      const known = new Map<string, GaugeValue>();
      const keyOf = ({ name, labels }: GaugeValue) => JSON.stringify([name, labels]);
      meter.addBatchObservableCallback(
        async (result) => {
          const values = await read().catch(() => undefined);
          for (const value of values ?? []) known.set(keyOf(value), value);
          const current = new Set(values?.map(keyOf));
          for (const [key, { name, value, labels }] of known) {
            const gauge = gauges.get(name);
            const shown = values === undefined ? Number.NaN : current.has(key) ? value : 0;
            if (gauge) result.observe(gauge, shown, labels);
          }
        },
        [...gauges.values()],
      );
    },
  };
}

const namesOf = <Kind extends "counter" | "histogram">(kind: Kind) =>
  Object.entries(METRICS)
    .filter(([, definition]) => definition.kind === kind)
    .map(([name]) => name) as (Kind extends "counter" ? CounterName : HistogramName)[];
