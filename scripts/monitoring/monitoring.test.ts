import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { METRICS, type MetricName, nameWithUnit } from "../../server/src/observe/metric-list.ts";
import { ALERTS } from "./alerts.ts";
import { DASHBOARDS } from "./dashboards.ts";

const directory = fileURLToPath(new URL("../../deploy/monitoring/", import.meta.url));
const expressions = [
  ...ALERTS.map(({ expr }) => expr),
  ...DASHBOARDS.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))),
];
const exported = (Object.keys(METRICS) as MetricName[]).map((name) => nameWithUnit(name).replaceAll(".", "_"));
const withoutSuffix = (name: string) => name.replace(/_(total|count|bucket|sum)$/, "");
const usedMetrics = new Set(
  expressions.flatMap((expr) => expr.match(/\b(gesso|http_server)_[a-z_]+/g) ?? []).map(withoutSuffix),
);

/** The names of the series that the queries for the exporter of PostgreSQL add. */
const listQueriedMetrics = (): string[] => {
  type QueryFile = Record<string, { metrics: Record<string, { usage: string }>[] }>;
  const file = parse(readFileSync(`${directory}postgres-exporter-queries.yaml`, "utf8")) as QueryFile;
  return Object.entries(file).flatMap(([prefix, { metrics }]) =>
    metrics.flatMap((columns) =>
      Object.entries(columns).flatMap(([column, { usage }]) => (usage === "LABEL" ? [] : [`${prefix}_${column}`])),
    ),
  );
};

describe("alerts and dashboards", () => {
  it("use only metrics that processes export", () => {
    expect([...usedMetrics].filter((name) => !exported.includes(name))).toEqual([]);
  });

  it("use every metric of the installation", () => {
    expect(exported.filter((name) => !usedMetrics.has(name))).toEqual([]);
  });

  it("use every metric that the queries for PostgreSQL add, and no unknown one", () => {
    const prefixes = /\bpg_(tables|wal|standbys|transaction_ids)_[a-z_]+/g;
    const used = new Set(expressions.flatMap((expr) => expr.match(prefixes) ?? []));
    expect([...used].sort()).toEqual(listQueriedMetrics().sort());
  });

  it("select the series of Restate and PostgreSQL by their job", () => {
    const selectors = expressions.flatMap((expr) => expr.match(/\b(restate|pg)_[a-z_]+(?!\w)(\{[^}]*)?/g) ?? []);
    expect(selectors.length).toBeGreaterThan(30);
    expect(selectors.filter((each) => !/\{job="(restate|postgresql)"/.test(each))).toEqual([]);
  });

  it("fire for the series of their tests, and for no other", () => {
    const output = execFileSync("promtool", ["test", "rules", "alerts.test.yaml"], {
      cwd: directory,
      encoding: "utf8",
    });
    expect(output).toContain("SUCCESS");
  });
});
