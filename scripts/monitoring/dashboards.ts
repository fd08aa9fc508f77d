// Every dashboard, declared once: its panels and their expressions. `npm run generate` writes them for Grafana, and
// `npm run drill -- monitoring` asks every expression of a Prometheus that watches a loaded installation.
import { ENGINE_DASHBOARD } from "./engine-dashboard.ts";
import { type Dashboard, panel, type Query } from "./panel.ts";
import { POSTGRESQL_DASHBOARD } from "./postgresql-dashboard.ts";

const REQUESTS = "http_server_request_duration_seconds";
const latency = (quantile: number): Query => ({
  expr: `histogram_quantile(${quantile}, sum by (le) (rate(${REQUESTS}_bucket[1m])))`,
  legend: `p${quantile * 100}`,
});
/** Every worker exports the figures of the installation. */
const figure = (metric: string, by?: string): Query =>
  by ? { expr: `max by (${by}) (${metric})`, legend: `{{${by}}}` } : { expr: `max(${metric})` };

export const DASHBOARDS: readonly Dashboard[] = [
  {
    id: "gesso-overview",
    title: "Gesso: overview",
    panels: [
      panel("Processes", "short", { expr: 'count(up{job="gesso"} == 1)', legend: "up" }),
      panel("Requests", "reqps", { expr: `sum(rate(${REQUESTS}_count[1m]))`, legend: "all" }),
      panel("Time to first byte", "s", latency(0.5), latency(0.99)),
      panel("Server errors", "percentunit", {
        expr: `(sum(rate(${REQUESTS}_count{http_response_status_code=~"5.."}[5m])) or vector(0)) / sum(rate(${REQUESTS}_count[5m]))`,
        legend: "share of responses",
      }),
      panel("Open runs", "short", figure("gesso_runs_open", "status")),
      panel("Oldest waiting run", "s", figure("gesso_queue_oldest_age_seconds", "provider")),
      panel("Runs that ended, per second", "reqps", {
        expr: "sum by (status) (rate(gesso_runs_ended_total[1m]))",
        legend: "{{status}}",
      }),
      panel("Runs that were lost once", "short", figure("gesso_runs_requeued")),
      panel("Runs in quarantine", "short", figure("gesso_runs_quarantined")),
      panel("Reserved money", "currencyUSD", figure("gesso_money_reserved_dollars")),
      panel("Webhooks: oldest due message", "s", figure("gesso_webhooks_oldest_age_seconds")),
      panel("Webhooks: due messages", "short", figure("gesso_webhooks_backlog")),
    ],
  },
  {
    id: "gesso-providers",
    title: "Gesso: providers",
    panels: [
      panel("Waiting runs", "short", figure("gesso_queue_depth", "provider")),
      panel("Oldest waiting run", "s", figure("gesso_queue_oldest_age_seconds", "provider")),
      panel("Requests in progress", "short", {
        expr: "max by (provider, activity) (gesso_requests_open)",
        legend: "{{provider}} {{activity}}",
      }),
      panel("Attempts that ended, per second", "reqps", {
        expr: "sum by (provider, outcome) (rate(gesso_attempts_ended_total[1m]))",
        legend: "{{provider}} {{outcome}}",
      }),
      panel("Money wasted in an hour", "currencyUSD", {
        expr: "sum(increase(gesso_money_wasted_dollars_total[1h])) or vector(0)",
      }),
      panel("Unknown outcomes", "short", { expr: "max by (provider) (gesso_attempts_unknown) or vector(0)" }),
      panel("Offers that are not used", "short", {
        expr: "max by (provider) (gesso_circuit_breakers_open) or vector(0)",
      }),
    ],
  },
  {
    id: "gesso-capacity",
    title: "Gesso: capacity",
    panels: [
      panel("Dispatched and not started", "short", figure("gesso_runs_not_started")),
      panel("Wait for a database connection", "s", figure("gesso_database_pool_wait_seconds", "instance")),
      panel("Lock table of PostgreSQL", "percentunit", figure("gesso_database_locks_ratio")),
      panel("Age of the figures", "s", figure("gesso_installation_read_age_seconds", "instance")),
      panel("Event log: unreadable events", "s", figure("gesso_events_horizon_lag_seconds")),
      panel(
        "Lag of readers of the event log",
        "s",
        { ...figure("gesso_webhooks_fan_out_lag_seconds"), legend: "webhooks" },
        { ...figure("gesso_index_lag_seconds"), legend: "lists" },
      ),
      panel("Files to delete and jobs to cancel", "short", figure("gesso_outbox_depth")),
      panel("Leases", "short", figure("gesso_leases_held")),
      panel("Storage failures", "short", { expr: "sum(increase(gesso_storage_failures_total[5m])) or vector(0)" }),
      panel("Decoder failures", "short", { expr: "sum(increase(gesso_decoder_failures_total[5m])) or vector(0)" }),
    ],
  },
  ENGINE_DASHBOARD,
  POSTGRESQL_DASHBOARD,
];
