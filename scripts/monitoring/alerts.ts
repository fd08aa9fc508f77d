// Every alert, declared once: its rule, the series that fire it, and its runbook. `npm run generate` writes the rules
// for Prometheus, their tests and the guide page from this list.
import { faults } from "../../server/src/faults/faults.ts";

export type Alert = {
  name: string;
  /** `page`: someone must act now. `ticket`: on the next working day. */
  severity: "page" | "ticket";
  expr: string;
  /** How long the expression must hold, as Prometheus writes it. */
  for: string;
  summary: string;
  /** A series that fires it, with its values. */
  fires: { series: string; values: string };
  means: string;
  look: string;
  act: string;
};

/** Codes of errors that a caller cannot mend: their HTTP status is 5xx. */
const OWN_FAULTS = Object.entries(faults)
  .flatMap(([code, { status }]) => (status >= 500 ? [code] : []))
  .join("|");

/** Values of one sample each minute: quiet for a while, then as given for an hour. */
const from = (quiet: string, firing: string) => `${quiet}x10 ${firing}x60`;

export const ALERTS: readonly Alert[] = [
  {
    name: "GessoProcessDown",
    severity: "page",
    expr: 'up{job="gesso"} == 0',
    for: "1m",
    summary: "{{ $labels.instance }} does not respond",
    fires: {
      series: 'up{job="gesso", instance="a:9464"}',
      values: from("1", "0"),
    },
    means: "A process does not serve its metrics. Its runs are continued by other workers; nothing is lost.",
    look: "The logs of the process, and whether your supervisor restarts it.",
    act: "Restart it. If it ends at once, its last log line names the setting or the dependency.",
  },
  {
    name: "GessoDatabaseNotResponding",
    severity: "page",
    expr: "min(gesso_installation_read_age_seconds) > 30",
    for: "1m",
    summary: "No worker has read from PostgreSQL for {{ $value | humanizeDuration }}",
    fires: { series: 'gesso_installation_read_age_seconds{instance="a"}', values: from("5", "120") },
    means: "PostgreSQL does not respond. The API refuses requests with `dependency_unavailable`; open runs wait.",
    look: "`/readyz` of the API, the logs of PostgreSQL, its connections and its disk.",
    act: "Restore PostgreSQL or fail over to the standby. Runs continue by themselves.",
  },
  {
    name: "GessoQueueOld",
    severity: "ticket",
    expr: "max by (provider) (gesso_queue_oldest_age_seconds) > 300",
    for: "5m",
    summary: "Runs for {{ $labels.provider }} wait for {{ $value | humanizeDuration }}",
    fires: {
      series: 'gesso_queue_oldest_age_seconds{provider="fal"}',
      values: from("1", "900"),
    },
    means: "Runs wait for a provider's limit of concurrent requests, or for workers.",
    look: "`gesso_requests_open` of the provider against its limit, and the CPU of the workers.",
    act: "Raise the limit of the provider if your contract allows it, add workers, or route to another provider.",
  },
  {
    name: "GessoRunsNotStarted",
    severity: "page",
    expr: "max(gesso_runs_not_started) > 0",
    for: "3m",
    summary: "{{ $value }} dispatched runs do not start",
    fires: { series: "gesso_runs_not_started", values: from("0", "4") },
    means: "Restate has accepted the runs and no worker executes them.",
    look: "The health of Restate, and whether the deployment of the workers is registered: `gesso doctor`.",
    act: "Restart Restate or the workers. Gesso requeues the runs, and no paid request is sent again.",
  },
  {
    name: "GessoRunsRequeued",
    severity: "ticket",
    expr: "max(gesso_runs_requeued) > 0",
    for: "5m",
    summary: "{{ $value }} open runs were lost once by a worker or by Restate",
    fires: { series: "gesso_runs_requeued", values: from("0", "2") },
    means: "A worker or Restate stopped while it executed runs. They continue in a second epoch.",
    look: "Restarts of workers and Restate. Explain one of the runs: `gesso admin explain RUN`.",
    act: "Find out why the process stopped. The runs need nothing.",
  },
  {
    name: "GessoRunQuarantined",
    severity: "ticket",
    expr: "max(gesso_runs_quarantined) > 0",
    for: "1m",
    summary: "{{ $value }} runs are in quarantine",
    fires: { series: "gesso_runs_quarantined", values: from("0", "1") },
    means: "Workers died three times while they stored results of a run, or an operator took the run out of execution.",
    look: "The audit entry `admin.quarantine` of the run, and log lines of workers with `run_id` before they stopped.",
    act: "Find out why the worker stopped. Then retry the run (`gesso admin retry RUN`) or end it (`gesso admin end RUN`).",
  },
  {
    name: "GessoRunsFail",
    severity: "ticket",
    expr: `sum(rate(gesso_runs_ended_total{error_code=~"${OWN_FAULTS}"}[10m])) / sum(rate(gesso_runs_ended_total[10m])) > 0.2`,
    for: "10m",
    summary: "{{ $value | humanizePercentage }} of the runs fail, and not because of their inputs",
    fires: {
      series: 'gesso_runs_ended_total{operation="images.generate", status="failed", error_code="provider_error"}',
      values: "0x10 0+30x60",
    },
    means:
      "More than a fifth of the runs that end have failed, and not because a provider or Gesso refused their inputs.",
    look: "`gesso_runs_ended_total` by `error_code`, and `gesso_attempts_ended_total` by provider and outcome.",
    act: "Pause a provider that fails: `gesso admin pause --provider ID`. Gesso uses other offers meanwhile.",
  },
  {
    name: "GessoMoneyWasted",
    severity: "ticket",
    expr: "sum(increase(gesso_money_wasted_dollars_total[1h])) > 1",
    for: "5m",
    summary: "Providers charged {{ $value | humanize }} dollars in an hour for results that no caller got",
    fires: { series: "gesso_money_wasted_dollars_total", values: "0x10 0+1x60" },
    means: "Jobs were paid for and their results not delivered: unknown outcomes, deadlines, cancellations.",
    look: "`gesso admin unknown-outcomes`, and runs that failed with `run_timeout`.",
    act: "Compare with the provider's own list of jobs and settle each attempt: `gesso admin settle`.",
  },
  {
    name: "GessoUnknownOutcomes",
    severity: "ticket",
    expr: "max by (provider) (gesso_attempts_unknown) > 0",
    for: "10m",
    summary: "The outcome of {{ $value }} requests to {{ $labels.provider }} is unknown",
    fires: { series: 'gesso_attempts_unknown{provider="fal"}', values: from("0", "1") },
    means: "A response of a provider was lost. It may have accepted a paid job; Gesso does not send it again blindly.",
    look: "Explain the runs, and look at the provider's own list of jobs.",
    act:
      "Gesso asks the provider where it can. A run whose outcome stays unknown fails and is not charged to the tenant. " +
      "Then settle it: `gesso admin settle`.",
  },
  {
    name: "GessoCircuitBreakerOpen",
    severity: "ticket",
    expr: "max by (provider) (gesso_circuit_breakers_open) > 0",
    for: "5m",
    summary: "{{ $value }} offers of {{ $labels.provider }} are not used",
    fires: {
      series: 'gesso_circuit_breakers_open{provider="fal"}',
      values: from("0", "1"),
    },
    means: "Offers of the provider failed repeatedly. Gesso uses other offers, or lets the runs wait.",
    look: "The status page of the provider, its key and its balance: `gesso doctor`.",
    act: "Renew the key or the balance. The breaker closes by itself when a request succeeds.",
  },
  {
    name: "GessoWebhooksLate",
    severity: "ticket",
    expr: "max(gesso_webhooks_oldest_age_seconds) > 600",
    for: "5m",
    summary: "The oldest webhook message is late by {{ $value | humanizeDuration }}",
    fires: { series: "gesso_webhooks_oldest_age_seconds", values: from("0", "1200") },
    means: "Messages are due and not sent. Retries to a broken receiver do not count: they are not due.",
    look: "`gesso_webhooks_backlog`, and whether one receiver is slow for all of its messages.",
    act: "Add workers, or disable the slow endpoint.",
  },
  {
    name: "GessoWebhookFanOutLate",
    severity: "ticket",
    expr: "max(gesso_webhooks_fan_out_lag_seconds) > 60",
    for: "5m",
    summary: "Events become webhook messages {{ $value | humanizeDuration }} late",
    fires: { series: "gesso_webhooks_fan_out_lag_seconds", values: from("0", "300") },
    means: "No worker reads the event log, or it cannot keep up.",
    look: "Log lines of the duty, and GessoEventHorizonStuck.",
    act: "End a long transaction if that alert fires too; otherwise restart a worker.",
  },
  {
    name: "GessoWebhookEventsSetAside",
    severity: "ticket",
    expr: "max(gesso_webhooks_set_aside_events) > 0",
    for: "5m",
    summary: "{{ $value }} events could not become webhook messages",
    fires: { series: "gesso_webhooks_set_aside_events", values: from("0", "1") },
    means: "An event failed repeatedly and is tried again later. Other events are not held up.",
    look: "Log lines of level 50 that name the event.",
    act: "Report the error with its log line. Give the event up if it never can succeed: `gesso admin skip-event`.",
  },
  {
    name: "GessoEventHorizonStuck",
    severity: "page",
    expr: "max(gesso_events_horizon_lag_seconds) > 60",
    for: "2m",
    summary: "Events cannot be read since {{ $value | humanizeDuration }}",
    fires: { series: "gesso_events_horizon_lag_seconds", values: from("0", "300") },
    means:
      "A transaction is open in PostgreSQL for so long that readers wait for it: streams and webhooks stand still.",
    look: "[Long transactions](postgresql.md#long-transactions).",
    act: "End the transaction with `pg_terminate_backend`.",
  },
  {
    name: "GessoIndexLate",
    severity: "ticket",
    expr: "max(gesso_index_lag_seconds) > 300",
    for: "5m",
    summary: "Lists miss runs of the last {{ $value | humanizeDuration }}",
    fires: { series: "gesso_index_lag_seconds", values: from("0", "900") },
    means: "Filtered lists and searches do not find the newest runs. Reading a run by its ID works.",
    look: "Log lines of the duty `index`.",
    act: "Restart a worker.",
  },
  {
    name: "GessoOutboxGrowing",
    severity: "ticket",
    expr: "min_over_time(max(gesso_outbox_depth)[10m:1m]) > 1000",
    for: "15m",
    summary: "{{ $value }} files to delete and jobs to cancel wait",
    fires: { series: "gesso_outbox_depth", values: from("0", "5000") },
    means: "Files of deleted runs and jobs of canceled runs are not cleaned up.",
    look: "`gesso_storage_failures_total`, and the health of the providers.",
    act: "Restore the storage. The work is done by itself.",
  },
  {
    name: "GessoLockTableFull",
    severity: "page",
    expr: "max(gesso_database_locks_ratio) > 0.7",
    for: "5m",
    summary: "{{ $value | humanizePercentage }} of the lock table of PostgreSQL is in use",
    fires: { series: "gesso_database_locks_ratio", values: from("0.1", "0.9") },
    means: "A full lock table fails statements with `out of shared memory`.",
    look: "Connections, and `max_locks_per_transaction` of PostgreSQL.",
    act: "Raise `max_locks_per_transaction` and restart PostgreSQL, or reduce `DATABASE_POOL`.",
  },
  {
    name: "GessoPoolWait",
    severity: "ticket",
    expr: "max by (instance) (gesso_database_pool_wait_seconds) > 1",
    for: "2m",
    summary: "Statements of {{ $labels.instance }} wait {{ $value | humanizeDuration }} for a connection",
    fires: {
      series: 'gesso_database_pool_wait_seconds{instance="a"}',
      values: from("0", "3"),
    },
    means: "The process has more statements than connections.",
    look: "The CPU and the slow statements of PostgreSQL.",
    act: "Raise `DATABASE_POOL` within `max_connections`, or add a process.",
  },
  {
    name: "GessoStorageFailures",
    severity: "page",
    expr: "sum by (operation) (increase(gesso_storage_failures_total[5m])) > 0",
    for: "2m",
    summary: "{{ $labels.operation }} of the storage fails",
    fires: {
      series: 'gesso_storage_failures_total{operation="put"}',
      values: "0x10 1+1x60",
    },
    means: "Files cannot be stored or read. Runs wait with their results and complete when the storage is back.",
    look: "`/readyz` (`degraded`), the status of the bucket, its credentials, or the disk.",
    act: "Restore the storage. Results of providers are often kept for an hour only.",
  },
  {
    name: "GessoDecoderFailures",
    severity: "ticket",
    expr: "sum(increase(gesso_decoder_failures_total[10m])) > 20",
    for: "5m",
    summary: "{{ $value }} images crashed or stalled their decoder in 10 minutes",
    fires: { series: "gesso_decoder_failures_total", values: "0x10 0+10x60" },
    means: "Someone uploads broken images on purpose, or a provider returns them. Decoders are isolated and restarted.",
    look: "Log lines with the tenant.",
    act: "Suspend the tenant if it attacks. Update Gesso if ordinary images fail.",
  },
  {
    name: "GessoServerErrors",
    severity: "page",
    expr:
      'sum(rate(http_server_request_duration_seconds_count{http_response_status_code=~"5.."}[5m])) ' +
      "/ sum(rate(http_server_request_duration_seconds_count[5m])) > 0.01",
    for: "5m",
    summary: "{{ $value | humanizePercentage }} of responses are server errors",
    fires: {
      series: 'http_server_request_duration_seconds_count{http_response_status_code="503"}',
      values: "0x10 0+60x60",
    },
    means: "More than 1 % of the responses have a status of 500 or above.",
    look: "Log lines of level 50 have the cause and the request ID.",
    act: "Follow the alert of the component that fails.",
  },
];
