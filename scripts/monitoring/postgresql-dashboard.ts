// The dashboard of PostgreSQL, from the metrics of postgres_exporter with `postgres-exporter-queries.yaml`. Series are
// of the job `postgresql`.
import { type Dashboard, panel, type Query } from "./panel.ts";

const JOB = 'job="postgresql"';
const by = (label: string, expr: string): Query => ({ expr, legend: `{{${label}}}` });
/** Databases that no application uses have the same counters. */
const perSecond = (counter: string) => `sum(rate(pg_stat_database_${counter}{${JOB}, datname!~"template.*|"}[1m]))`;

export const POSTGRESQL_DASHBOARD: Dashboard = {
  id: "gesso-postgresql",
  title: "Gesso: PostgreSQL",
  panels: [
    panel("Servers that respond", "short", { expr: `sum(pg_up{${JOB}})`, legend: "up" }),
    panel("Connections", "short", by("state", `sum by (state) (pg_stat_activity_count{${JOB}})`), {
      expr: `min(pg_settings_max_connections{${JOB}})`,
      legend: "limit",
    }),
    panel(
      "Transactions",
      "reqps",
      { expr: perSecond("xact_commit"), legend: "committed" },
      { expr: perSecond("xact_rollback"), legend: "rolled back" },
    ),
    panel("Oldest transaction", "s", by("state", `max by (state) (pg_stat_activity_max_tx_duration{${JOB}})`)),
    panel("Locks", "short", by("mode", `sum by (mode) (pg_locks_count{${JOB}})`)),
    panel("Deadlocks in 5 minutes", "short", {
      expr: `sum(increase(pg_stat_database_deadlocks{${JOB}}[5m]))`,
    }),
    panel(
      "Rows written per second",
      "short",
      { expr: perSecond("tup_inserted"), legend: "inserted" },
      { expr: perSecond("tup_updated"), legend: "updated" },
      { expr: perSecond("tup_deleted"), legend: "deleted" },
    ),
    panel("Blocks found in memory", "percentunit", {
      expr: `${perSecond("blks_hit")} / (${perSecond("blks_hit")} + ${perSecond("blks_read")})`,
      legend: "share",
    }),
    panel("Temporary files, bytes per second", "bytes", { expr: perSecond("temp_bytes") }),
    panel("Write-ahead log, bytes per second", "bytes", { expr: `sum(rate(pg_wal_written_bytes{${JOB}}[1m]))` }),
    panel(
      "Standbys",
      "short",
      { expr: `max(pg_standbys_connected{${JOB}})`, legend: "connected" },
      { expr: `max(pg_standbys_synchronous{${JOB}})`, legend: "synchronous" },
    ),
    panel("Furthest standby behind", "bytes", { expr: `max(pg_standbys_lag_bytes{${JOB}})` }),
    panel("Archiving of the log: failures in 5 minutes", "short", {
      expr: `sum(increase(pg_stat_archiver_failed_count{${JOB}}[5m]))`,
    }),
    panel("Size", "bytes", by("datname", `max by (datname) (pg_database_size_bytes{${JOB}, datname!~"template.*"})`)),
    panel("Largest tables", "bytes", by("table", `topk(10, max by (table) (pg_tables_size_bytes{${JOB}}))`)),
    panel(
      "Dead rows that vacuum has not removed",
      "short",
      by("table", `topk(10, max by (table) (pg_tables_dead_rows{${JOB}}))`),
    ),
    panel(
      "Age of the oldest transaction ID",
      "short",
      by("datname", `max by (datname) (pg_transaction_ids_age{${JOB}})`),
      { expr: `min(pg_settings_autovacuum_freeze_max_age{${JOB}})`, legend: "vacuum is forced" },
    ),
  ],
};
