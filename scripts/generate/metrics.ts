// Generates the reference page of metrics from their declarations.
import { METRICS, type MetricName, nameWithUnit } from "../../server/src/observe/metric-list.ts";
import { code, page, table } from "./markdown.ts";

const INTRODUCTION = `A process with \`METRICS_PORT\` serves these metrics under \`/metrics\`, in the format of Prometheus. Names follow
OpenTelemetry, with their unit at the end. No label has the id of a tenant or a run.

Figures about the whole installation come from PostgreSQL. Every worker exports the same ones, so combine them with \`max\`,
never with \`sum\`. A figure that cannot be read is \`NaN\`.`;

/** As Prometheus stores it. */
const storedName = (name: MetricName) => {
  const stored = nameWithUnit(name).replaceAll(".", "_");
  return METRICS[name].kind === "counter" ? `${stored}_total` : stored;
};

export function generateMetricsPage(): string {
  const rows = (Object.keys(METRICS) as MetricName[]).map((name) => {
    const { kind, labels, help } = METRICS[name];
    return [code(storedName(name)), kind, labels.map((label) => code(label.replaceAll(".", "_"))).join(", "), help];
  });
  return page("Metrics", INTRODUCTION, table(["Metric", "Kind", "Labels", "Meaning"], rows));
}
