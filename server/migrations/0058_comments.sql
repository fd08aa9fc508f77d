-- expand: describes tables and triggers where readers of the database find it; the reference of the schema shows it

comment on table api_keys is
  'API keys as digests. holder_ids are the keys above it, whose limits count its use, too.';
comment on table archive_batches is
  'One row for each file of the archive, from before the file is written.';
comment on table archived_runs is
  'Archived runs that stay as tombstones, because runs that are not archived refer to them.';
comment on table archived_transfers is
  'Sums of the transfers that are in the archive.';
comment on table archived_usage is
  'The part of daily_usage that comes from archived runs, for the case that the sums are built again.';
comment on table assets is
  'Stored files: sources, results, masks and thumbnails of runs. The bytes are in the object storage.';
comment on table attempts is
  'Every submission of a request to a provider. The row is written before the request, and is its lease.';
comment on table audit_checkpoints is
  'Signed positions of the audit log of each tenant, so that a removed end is noticed.';
comment on table audit_head is
  'The last checkpoint of all, authenticated with a key that the database does not have.';
comment on table audit_log is
  'Changes of access, money and the installation, and what operators read. Each entry contains the digest of the one before.';
comment on table audit_pending is
  'Tenants whose last audit entry has no checkpoint yet.';
comment on table budgets is
  'Balances and spending limits of tenants, keys and tokens with what is used. Amounts are micro-dollars.';
comment on table circuit_breakers is
  'Failures of each model of a provider, and when requests are tried again.';
comment on table client_requests is
  'Recent requests of clients that send no idempotency key, so that their repetitions are joined.';
comment on table console_codes is
  'One-time codes that open the console from a terminal.';
comment on table console_sessions is
  'Sessions of the console. A session has the rights of its key, or of the member that signed in.';
comment on table daily_usage is
  'Sums of ended runs by day, operation, model and key.';
comment on table daily_usage_cursor is
  'How far the event log is summed up in daily_usage.';
comment on table engine_incarnation is
  'The marker of the engine. Another one means that the engine has lost its journal.';
comment on view entries is
  'Both sides of every transfer of the ledger.';
comment on table event_clock is
  'Lifts new positions of the event log above all stored ones after a restore into another cluster.';
comment on table events is
  'The event log: what happened to runs and webhooks, in the order of commits.';
comment on table expiring_runs is
  'When the files of ended runs expire.';
comment on table idempotency_keys is
  'Idempotency keys of creating requests with their fingerprint and the resource that they created.';
comment on table leases is
  'Which process holds each lease, such as that of a background duty.';
comment on table lora_names is
  'The owner of each LoRA name: the first user that registered it. The name stays with that owner, because the file stays.';
comment on table lost_event_positions is
  'Positions that no event has or will ever have: those of events that a restore has lost are among them.';
comment on table marked_runs is
  'The index of stars and tags.';
comment on table members is
  'Users of a tenant with their roles. Every tenant has an owner.';
comment on table model_grants is
  'Who else may use a custom model.';
comment on table models is
  'Custom models of tenants.';
comment on table open_deliveries is
  'The deliveries that are not finished: their queue and claims.';
comment on table open_requests is
  'The requests to providers of open runs that are in progress: ticket, wakeup, lease and slot.';
comment on table open_runs is
  'The runs that have not ended: their queue, claim, deadline and reserve. The statement that deletes the row ends the run.';
comment on table orphaned_objects is
  'Objects without a row, when they were first seen. They are deleted later.';
comment on table outbox is
  'Calls to other systems that follow from a committed statement: cancel a job, delete files.';
comment on table pauses is
  'What operators have paused, until they resume it.';
comment on table planned_requests is
  'One row for each provider request of a plan, with the selected offer. A request with an output is never submitted again.';
comment on table prompt_versions is
  'All versions of the prompts.';
comment on table prompts is
  'Prompts in the library of a tenant, in their newest version.';
comment on table provider_rate_limits is
  'Requests per minute to each provider, shared by all processes.';
comment on table queue_start_rates is
  'How fast the runs of each tenant have been starting, for estimates of the queue.';
comment on table retention is
  'The period for which files are kept by default.';
comment on table run_counts is
  'Number of runs of each tenant by term and month.';
comment on table run_index is
  'The index of runs: hashes of the words of the prompt, the field values and the periods of each run.';
comment on table run_index_position is
  'How far the event log and older runs are indexed.';
comment on table run_marks is
  'Stars and tags that users put on runs.';
comment on table run_references is
  'Runs that a run was made from, beside its parent.';
comment on table runs is
  'One row for each run, from its acceptance until it is archived. Statements of open work read open_runs instead.';
comment on table schema_migrations is
  'The migrations that were applied.';
comment on table staged_runs is
  'Runs whose images inside the request were stored before the run was accepted.';
comment on table storage_usage is
  'Stored bytes and files of each tenant, in shards. Triggers keep them exact.';
comment on table suspect_runs is
  'Runs that were being executed when their worker died, with the number of deaths.';
comment on table tenant_deletions is
  'Tenants that are deleted or were deleted, with what was removed. Remains as the proof.';
comment on table tenants is
  'Customers of the installation. Each has its own members, keys, runs, files and money.';
comment on table token_buckets is
  'Rate limits of tenants, keys and webhook hosts, shared by all processes.';
comment on table transfers is
  'The double-entry ledger. Rows are never changed. Amounts are micro-dollars.';
comment on table unsuccessful_runs is
  'Failed and canceled runs, for lists by these rare states.';
comment on table used_logout_tokens is
  'Logout tokens of identity providers that were used. Each counts once.';
comment on table webhook_attempts is
  'Every request of a delivery with its response.';
comment on table webhook_circuit_breakers is
  'Failures of each destination, and when it is tried again.';
comment on table webhook_cursor is
  'How far the event log has become deliveries.';
comment on table webhook_deliveries is
  'Messages to endpoints and to the webhook URLs of runs.';
comment on table webhook_endpoints is
  'Endpoints of tenants that receive events.';
comment on table webhook_listeners is
  'Command lines that receive events with gesso webhooks listen.';
comment on table webhook_progress_sent is
  'When the last progress of a run was sent, so that it is sent rarely.';
comment on table webhook_replays is
  'Requests to send the events of a period again.';
comment on table webhook_secrets is
  'Sealed secrets that sign messages, of endpoints, tenants and runs.';
comment on table webhook_set_aside_events is
  'Events that could not become deliveries. They are tried again every hour.';
comment on table workers is
  'The workers that run, each by its own report.';

comment on function chain_audit_log is
  'Gives an audit entry its number and the digest that contains the one before.';
comment on function clear_run_index is
  'Removes the terms of a deleted run from the index and from the counts.';
comment on function count_stored_files is
  'Keeps storage_usage exact when files are inserted, change or are deleted.';
comment on function enforce_run_state_machine is
  'Refuses changes of status that the state machine does not have, and changes of ended runs.';
comment on function enforce_run_tree is
  'Refuses a parent of another tenant, a wrong root or depth, and every later change of them.';
comment on function forbid_audit_log_changes is
  'Refuses changes and deletions of audit entries and checkpoints.';
comment on function forbid_lora_name_changes is
  'Refuses changes of the name of a LoRA and of its owner.';
comment on function forbid_transfer_changes is
  'Refuses changes and deletions of transfers.';
comment on function keep_idempotency_key_taken is
  'Keeps a key taken for programs of the previous version, which know no callers.';
comment on function limit_asset_key is
  'Lets the application store files only below the prefix of their own tenant.';
comment on function limit_tenant_outbox is
  'Lets the role of a tenant only ask for the deletion of the own files. All other work comes from background duties.';
comment on function mark_audit_entry_pending is
  'Marks the tenant, whose last audit entry has no checkpoint yet.';
comment on function refuse_run_of_deleted_tenant is
  'Refuses runs of tenants that are being deleted.';
comment on function remove_run_index is
  'Removes the row of the index with the row of the run.';
comment on function remove_run_marks is
  'Removes stars and tags of a deleted run.';
comment on function require_tenant_owner is
  'Refuses to leave a tenant without an owner.';
comment on function set_expiry is
  'Sets when the files of the run expire, by the period of its tenant, when the run ends.';
comment on function set_grant_owner_tenant is
  'Sets the tenant that owns the granted model.';
comment on function store_marked_run is
  'Keeps marked_runs equal to the stars and tags.';
comment on function sync_budget_limits is
  'Writes the spending limits of a tenant or a key into its budget.';
