// The dashboard of the engine, from the metrics that every node of Restate serves. Series are of the job `restate`.
import { type Dashboard, panel, type Query } from "./panel.ts";

const JOB = 'job="restate"';
/** Restate computes quantiles itself. Those of several nodes cannot be added up, so the slowest node counts. */
const slowest = (metric: string, quantile: string, legend: string, filter = ""): Query => ({
  expr: `max(${metric}{${JOB}, quantile="${quantile}"${filter}})`,
  legend,
});
const sum = (metric: string, legend?: string): Query => ({
  expr: `sum(${metric}{${JOB}})`,
  ...(legend !== undefined && { legend }),
});
const ofNodes = (metric: string): Query => ({
  expr: `max by (node_name) (${metric}{${JOB}})`,
  legend: "{{node_name}}",
});

export const ENGINE_DASHBOARD: Dashboard = {
  id: "gesso-engine",
  title: "Gesso: engine (Restate)",
  panels: [
    panel("Nodes", "short", { expr: `count(up{${JOB}} == 1)`, legend: "up" }),
    panel("Partitions with a leader", "short", sum("restate_num_active_partition_leaders", "leaders"), {
      expr: `max(restate_num_partitions{${JOB}})`,
      legend: "partitions",
    }),
    panel("Requests of Gesso to the engine", "reqps", {
      expr: `sum by (rpc_service, status) (rate(restate_ingress_requests_total{${JOB}, rpc_service!=""}[1m]))`,
      legend: "{{rpc_service}} {{status}}",
    }),
    panel(
      "Time to accept a run",
      "s",
      slowest("restate_ingress_request_duration_seconds", "0.5", "p50", ', rpc_service="Run"'),
      slowest("restate_ingress_request_duration_seconds", "0.99", "p99", ', rpc_service="Run"'),
    ),
    panel("Executions on workers, by what became of them", "reqps", {
      expr: `sum by (status) (rate(restate_invoker_invocation_tasks_total{${JOB}}[1m]))`,
      legend: "{{status}}",
    }),
    panel("Responses of workers", "reqps", {
      expr: `sum by (status_code) (rate(restate_invoker_client_requests_total{${JOB}}[1m]))`,
      legend: "{{status_code}}",
    }),
    panel(
      "Executions in progress",
      "short",
      {
        expr:
          `sum(restate_invoker_concurrency_slots_acquired{${JOB}}) ` +
          `- sum(restate_invoker_concurrency_slots_released{${JOB}})`,
        legend: "in progress",
      },
      sum("restate_invoker_concurrency_limit", "limit"),
    ),
    panel("Records that partitions have not applied", "short", {
      expr: `max by (node_name) (restate_partition_applied_lsn_lag{${JOB}, quantile="1.0"})`,
      legend: "{{node_name}}",
    }),
    panel(
      "Time to append to the log",
      "s",
      slowest("restate_bifrost_sequencer_append_duration_seconds", "0.5", "p50"),
      slowest("restate_bifrost_sequencer_append_duration_seconds", "0.99", "p99"),
    ),
    panel("Time to sync the log to disk (p99)", "s", {
      expr: `max by (node_name) (restate_rocksdb_wal_file_sync_seconds{${JOB}, db="log-server", quantile="0.99"})`,
      legend: "{{node_name}}",
    }),
    panel("Writes that wait for the disk", "s", {
      expr: `sum by (db) (rate(restate_rocksdb_stall_micros_total{${JOB}}[1m])) / 1e6`,
      legend: "{{db}}, seconds per second",
    }),
    panel("Errors of the disk", "short", {
      expr: `sum by (db) (restate_rocksdb_background_errors{${JOB}})`,
      legend: "{{db}}",
    }),
    panel("Files on disk", "bytes", {
      expr: `sum by (node_name, db) (restate_rocksdb_total_sst_files_size_bytes{${JOB}})`,
      legend: "{{node_name}} {{db}}",
    }),
    panel("Memory", "bytes", ofNodes("restate_jemalloc_resident_bytes")),
  ],
};
