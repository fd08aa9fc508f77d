// Generates the dashboards of Grafana from their declarations.
import { DASHBOARDS } from "../monitoring/dashboards.ts";
import type { Dashboard, Panel } from "../monitoring/panel.ts";

const COLUMNS = 2;
const [WIDTH, HEIGHT] = [12, 8];
const DATA_SOURCE = { type: "prometheus", uid: "$datasource" };

const toPanel = ({ title, unit, queries }: Panel, index: number) => ({
  id: index + 1,
  type: "timeseries",
  title,
  datasource: DATA_SOURCE,
  gridPos: { x: (index % COLUMNS) * WIDTH, y: Math.floor(index / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  targets: queries.map(({ expr, legend }, position) => ({
    refId: String.fromCharCode("A".charCodeAt(0) + position),
    datasource: DATA_SOURCE,
    expr,
    ...(legend && { legendFormat: legend }),
  })),
});

const toFile = ({ id, title, panels }: Dashboard) => ({
  uid: id,
  title,
  tags: ["gesso"],
  timezone: "utc",
  refresh: "30s",
  time: { from: "now-3h", to: "now" },
  schemaVersion: 39,
  templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus", label: "Data source" }] },
  panels: panels.map(toPanel),
});

export const generateDashboards = (): Record<string, string> =>
  Object.fromEntries(
    DASHBOARDS.map((dashboard) => [
      `deploy/monitoring/dashboards/${dashboard.id}.json`,
      `${JSON.stringify(toFile(dashboard), null, 2)}\n`,
    ]),
  );
