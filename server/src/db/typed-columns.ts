// Types of what columns hold whose PostgreSQL type says too little: jsonb columns, and text columns with a fixed set of
// values. `npm run generate` uses `ColumnTypes` for the rows of every statement, so this file imports nothing of `db`.

import type { Job } from "../contract/operation.ts";
import type { MediaKind, PinnedModel } from "../contract/pinned-model.ts";
import type { JsonObject, RunStatus } from "../contract/schemas/run.ts";
import type { PublicFault } from "../faults/faults.ts";

export type Role = "owner" | "developer" | "viewer";

/** How a session of the console began: with a one-time code, an API key, or an identity provider. */
export type SignInMethod = "code" | "key" | "oidc";

export type TenantDeletionState = "canceling_runs" | "draining" | "deleting" | "completed";

/** What a key stands for: the kind of the resource that the request created. */
export type ResourceKind =
  | "run"
  | "prompt"
  | "custom_model"
  | "model_grant"
  | "api_key"
  | "tenant"
  | "webhook"
  | "credit";

export type ModelStatus = "active" | "disabled";

export type ModelVisibility = "private" | "tenant" | "public";

export type AttemptState = "intent" | "submitted" | "succeeded" | "failed" | "unknown";

export type DeliveryStatus = "pending" | "delivered" | "exhausted" | "disabled" | "dropped";

export type DisabledReason = "asked" | "gone" | "failing" | "not_allowed";

export type RunCost = { amount: number; currency: "USD" };

/** A file as a run's result lists it. It never changes, so a run is shown without looking anything else up. */
export type StoredAsset = {
  asset_id: string;
  media_type: string;
  /** Null for a file without pixels, or in a format that Gesso does not read. */
  width: number | null;
  height: number | null;
  size_bytes: number;
  sha256: string;
  role: string;
  name?: string;
  score?: number;
  box?: { x: number; y: number; width: number; height: number };
  duration?: number;
  fps?: number;
  /** Asset ids of small copies. Absent in runs of earlier versions, and if none could be made. */
  thumbnails?: { small: string; large: string };
  thumbhash?: string;
  /** How the file says what made it. Absent if it does not. */
  provenance?: StoredProvenance;
};

/** `received`: the file has the C2PA manifest of the provider, unchanged. */
export type StoredProvenance = {
  status: "signed" | "marked" | "received";
  digital_source_type: string;
  manifest_hash?: string;
};

/** `jobs` are the files of every job of the plan; `outputs`, those of the last. */
export type StoredRunResult = { outputs: StoredAsset[]; jobs?: StoredAsset[][]; data?: JsonObject | null };

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
  "imported_models.document": PinnedModel;
  "imported_models.media": MediaKind[];
  "members.role": Role;
  "models.status": ModelStatus;
  "models.visibility": ModelVisibility;
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
