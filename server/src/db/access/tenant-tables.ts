// Which rows of which tables belong to a tenant, for its deletion. Every table of the database is in exactly one of
// these lists; a test compares them with the catalogue of PostgreSQL, so a new table cannot be forgotten.

/**
 * Rows of a run, each with the expression that is the id of the run. They are deleted with the run in one statement:
 * some of these tables have no tenant, so afterwards the rows could not be found.
 */
export const RUN_TABLES = {
  attempts: "run_id",
  planned_requests: "run_id",
  run_references: "run_id",
  webhook_progress_sent: "run_id",
  unsuccessful_runs: "run_id",
  suspect_runs: "run_id",
  expiring_runs: "run_id",
  run_marks: "run_id",
  run_index: "run_id",
  archived_runs: "run_id",
  assets: "run_id",
  transfers: "cause_id",
  outbox: "(payload ->> 'run_id')::uuid",
  runs: "run_id",
} as const;

/** Rows of a webhook delivery, deleted with it in one statement. */
export const DELIVERY_TABLES = ["webhook_attempts", "open_deliveries", "webhook_deliveries"] as const;

const OWN = "tenant_id = :tenant_id";

/**
 * The condition for all other rows of a tenant, in the order in which foreign keys permit their deletion. Tables of the
 * lists above are listed again for rows without a run, such as a top-up, and for rows that appeared meanwhile.
 */
export const TENANT_CONDITIONS: Record<string, string> = {
  // Refills the buckets of hosts that receive webhooks of other tenants too: their names have no tenant.
  token_buckets: `bucket like 'webhook/%' or split_part(bucket, '/', 1) = :tenant_id::uuid::text
    or split_part(bucket, '/', 1) in (select key_id::text from api_keys where ${OWN})`,
  outbox: "payload::text like '%t/' || :tenant_id::uuid::text || '/%'",
  orphaned_objects: "storage_key like 't/' || :tenant_id::uuid::text || '/%'",
  idempotency_keys: `${OWN} or (resource_kind = 'tenant' and resource_id = :tenant_id)`,
  client_requests: OWN,
  open_requests: OWN,
  open_runs: OWN,
  staged_runs: OWN,
  suspect_runs: OWN,
  unsuccessful_runs: OWN,
  expiring_runs: OWN,
  run_index: OWN,
  run_counts: OWN,
  marked_runs: OWN,
  assets: OWN,
  // After the assets: their deletion changes these sums.
  storage_usage: OWN,
  events: OWN,
  webhook_set_aside_events: OWN,
  webhook_attempts: OWN,
  open_deliveries: OWN,
  webhook_replays: OWN,
  webhook_listeners: OWN,
  webhook_circuit_breakers: OWN,
  webhook_secrets: OWN,
  webhook_endpoints: OWN,
  prompt_versions: OWN,
  prompts: OWN,
  model_grants: `${OWN} or owner_tenant_id = :tenant_id`,
  models: OWN,
  queue_start_rates: OWN,
  pauses: "kind = 'tenant' and name = :tenant_id::uuid::text",
  transfers: OWN,
  budgets: OWN,
  archived_transfers: OWN,
  daily_usage: OWN,
  attributed_usage: OWN,
  archived_usage: OWN,
  archived_attributed_usage: OWN,
  archive_batches: OWN,
  console_codes: OWN,
  console_sessions: OWN,
  api_keys: OWN,
  audit_pending: OWN,
  members: OWN,
  tenants: OWN,
};

/** Tables with statements of their own: the log is deleted as a whole, and a LoRA name stays reserved as a digest. */
export const OTHER_TENANT_TABLES = ["audit_log", "lora_names"];

/**
 * Tables without data of tenants. `tenant_deletions` has the tombstones. `audit_checkpoints` has IDs and digests, which
 * the authenticated head covers, so no row can be removed.
 */
export const INSTALLATION_TABLES = [
  ...["audit_checkpoints", "audit_head"],
  ...["circuit_breakers", "engine_incarnation", "event_clock", "leases", "provider_rate_limits", "retention"],
  "lost_event_positions",
  ...["daily_usage_cursor", "attributed_usage_cursor", "run_index_position"],
  ...["imported_models", "model_pins"],
  ...["schema_migrations", "tenant_deletions", "used_logout_tokens", "webhook_cursor", "workers"],
];
