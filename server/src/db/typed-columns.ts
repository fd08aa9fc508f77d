// TypeScript types of table columns whose PostgreSQL type says too little: jsonb columns, and text columns with a
// fixed set of values. `npm run generate` uses them for the rows of every statement.
import type { PublicFault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { JsonObject, RunStatus } from "../kit/schemas/run.ts";
import type { Role, SignInMethod } from "./access/caller.ts";
import type { TenantDeletionState } from "./access/tenant-deletions.ts";
import type { ResourceKind } from "./idempotency-keys.ts";
import type { CustomModelRow } from "./library/custom-models.ts";
import type { AttemptState } from "./runs/attempts.ts";
import type { RunCost, StoredRunResult } from "./runs/runs.ts";
import type { DeliveryStatus } from "./webhooks/deliveries.ts";
import type { DisabledReason } from "./webhooks/endpoints.ts";

export type ColumnTypes = {
  "api_keys.limits": JsonObject;
  "attempts.fault": PublicFault;
  "attempts.request": JsonObject;
  "attempts.state": AttemptState;
  "attempts.ticket": JsonObject;
  "audit_log.details": JsonObject;
  "console_sessions.method": SignInMethod;
  "events.data": JsonObject;
  "idempotency_keys.resource_kind": ResourceKind;
  "members.role": Role;
  "models.status": CustomModelRow["status"];
  "models.visibility": CustomModelRow["visibility"];
  "open_requests.ticket": JsonObject;
  "outbox.payload": JsonObject;
  "runs.cost": RunCost;
  "runs.error": PublicFault;
  "runs.inputs": JsonObject;
  "runs.metadata": JsonObject;
  "runs.plan": Job[];
  "runs.result": StoredRunResult;
  "runs.status": RunStatus;
  "runs.warnings": string[];
  "tenant_deletions.deleted_rows": JsonObject;
  "tenant_deletions.ledger": JsonObject;
  "tenant_deletions.state": TenantDeletionState;
  "tenants.limits": JsonObject;
  "tenants.provenance": JsonObject;
  "webhook_deliveries.status": DeliveryStatus;
  "webhook_endpoints.disabled_reason": DisabledReason;
};
