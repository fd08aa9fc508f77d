import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
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

describe("alerts and dashboards", () => {
  it("use only metrics that processes export", () => {
    expect([...usedMetrics].filter((name) => !exported.includes(name))).toEqual([]);
  });

  it("use every metric of the installation", () => {
    expect(exported.filter((name) => !usedMetrics.has(name))).toEqual([]);
  });

  it("fire for the series of their tests, and for no other", () => {
    const output = execFileSync("promtool", ["test", "rules", "alerts.test.yaml"], {
      cwd: directory,
      encoding: "utf8",
    });
    expect(output).toContain("SUCCESS");
  });
});
