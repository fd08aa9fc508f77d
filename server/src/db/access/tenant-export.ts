// The rows of a tenant for its export, in pages by key on one snapshot. The columns are listed one by one: digests of
// keys, secrets of webhooks and what only the server needs are not exported.
import type { JsonObject } from "../../contract/schemas/run.ts";
import { STORAGE_KEY } from "../files/asset-key.ts";
import type { Snapshot } from "../snapshot.ts";
import { statementVariants } from "../statement.ts";

const PAGE_ROWS = 500;
/** Before every key of the type. */
const FIRST = { uuid: "00000000-0000-0000-0000-000000000000", text: "", bigint: "0" };

type ExportedTable = {
  table: string;
  columns: string;
  /** A column or expression that is unique within the tenant, and its type. */
  key: string;
  keyType?: keyof typeof FIRST;
  /** Default: the rows with the tenant's id. */
  condition?: string;
};

/** The kinds of lines, in the order of the export. */
const PAGED = {
  tenant: {
    table: "tenants",
    columns: "name, weight, limits, retention_days, archive_after_days, suspended_at, created_at, updated_at",
    key: "tenant_id",
  },
  member: {
    table: "members",
    columns: "user_id, role, name, email, removed_at, created_at, updated_at",
    key: "user_id",
    keyType: "text",
  },
  key: {
    table: "api_keys",
    columns: `key_id, user_id, name, hint, scopes, limits, expires_at, replaced_by, revoked_at, last_used_at, created_at,
      updated_at`,
    key: "key_id",
  },
  budget: {
    table: "budgets",
    columns: `holder_id, is_prepaid, available, hour_limit, day_limit, month_limit, total_limit, hour, hour_used, day, day_used,
      month, month_used, total_used, of_kind, of_value, template_id, alert_at`,
    key: "holder_id",
  },
  prompt: {
    table: "prompts",
    columns: "prompt_id, name, text, model_type, tags, version, created_at, updated_at",
    key: "prompt_id",
  },
  prompt_version: {
    table: "prompt_versions",
    columns: "prompt_id, version, user_id, name, text, model_type, tags, created_at",
    key: "(prompt_id::text || '/' || lpad(version::text, 10, '0'))",
    keyType: "text",
  },
  model: {
    table: "models",
    columns: `model_id, owner, name, model_type, deployment_id, trigger_word, description, preview_image_url, visibility,
      status, created_at, updated_at`,
    key: "model_id",
  },
  model_grant: {
    table: "model_grants",
    columns: "grant_id, model_id, owner_tenant_id, tenant_id, user_id, created_at",
    key: "grant_id",
    condition: "(tenant_id = :tenant_id or owner_tenant_id = :tenant_id)",
  },
  webhook: {
    table: "webhook_endpoints",
    columns: `webhook_id, url, events, description, enabled, disabled_reason, disabled_at, failing_since, created_at,
      updated_at`,
    key: "webhook_id",
  },
  audit_entry: {
    table: "audit_log",
    columns: "entry, at, user_id, key_id, action, subject, details, encode(digest, 'hex') as digest",
    key: "entry",
    keyType: "bigint",
  },
  top_up: {
    table: "transfers",
    columns: "cause_id, kind as transfer_kind, from_account, to_account, amount, created_at",
    key: "cause_id",
    condition: "tenant_id = :tenant_id and kind = 'topup'",
  },
  run: {
    table: "runs",
    columns: `run_id, user_id, end_user, customer, cost_tags, key_id, operation, run_type, status, progress, parent_run_id, root_run_id, inputs, metadata,
      webhook_url, model, provider, result, error, cost, warnings, created_at, started_at, finished_at, expires_at,
      deleted_at`,
    key: "run_id",
  },
  delivery: {
    table: "webhook_deliveries",
    columns: "delivery_id, event_id, run_id, webhook_id, type, url, body, status, attempts, created_at, finished_at",
    key: "delivery_id",
  },
  archive_file: {
    table: "archive_batches",
    columns: "kind as content, day, lines, sha256, storage_key, archived_at",
    key: "batch_id",
    condition: "tenant_id = :tenant_id and state = 'archived'",
  },
} satisfies Record<string, ExportedTable>;

/** Lines that follow the page of their run or delivery. `parent` is the column with its id. */
const NESTED = {
  attempt: {
    of: "run",
    table: "attempts",
    parent: "run_id",
    columns: `run_id, request_index, attempt_number, provider, upstream, state, request, fault, price, created_at,
      submitted_at, finished_at`,
  },
  marks: {
    of: "run",
    table: "run_marks",
    parent: "run_id",
    columns: "run_id, starred, tags, updated_at",
  },
  transfer: {
    of: "run",
    table: "transfers",
    parent: "cause_id",
    columns: "cause_id, kind as transfer_kind, from_account, to_account, amount, created_at",
  },
  file: {
    of: "run",
    table: "assets",
    parent: "run_id",
    columns: `asset_id, run_id, role, ${STORAGE_KEY} as storage_key, media_type, width, height, size_bytes, sha256, provenance_of,
      original_sha256, created_at, deleted_at`,
  },
  delivery_attempt: {
    of: "delivery",
    table: "webhook_attempts",
    parent: "delivery_id",
    columns: "delivery_id, attempt, started_at, duration_ms, status, error, response",
  },
};

const EVENT_PAGE = `select xact::text || '.' || seq::text as key, to_jsonb(page) - 'xact' - 'seq' as data from (
     select event_id, run_id, type, data, created_at, xact, seq from events
     where tenant_id = :tenant_id and (xact, seq) > (:after_xact::bigint, :after_seq::bigint)
     order by xact, seq limit :limit
   ) as page`;

const LIST = statementVariants("tenant_export.list", {
  ...Object.fromEntries(
    Object.entries(PAGED as Record<string, ExportedTable>).map(
      ([kind, { table, columns, key, keyType = "uuid", condition = "tenant_id = :tenant_id" }]) => [
        kind,
        `select key, to_jsonb(page) - 'key' as data from (
           select concat(${key}) as key, ${columns} from ${table} where ${condition} and ${key} > :after::text::${keyType}
           order by ${key} limit :limit
         ) as page`,
      ],
    ),
  ),
  event: EVENT_PAGE,
});

const LIST_NESTED = statementVariants(
  "tenant_export.list_nested",
  Object.fromEntries(
    Object.entries(NESTED).map(([kind, { table, parent, columns }]) => [
      kind,
      `select to_jsonb(nested) as data from (
         select ${columns} from ${table} where ${parent} = any(:parent_ids::uuid[]) order by ${parent}
       ) as nested`,
    ]),
  ),
);

export const EXPORTED_TABLES = [
  ...new Set([...Object.values(PAGED), ...Object.values(NESTED)].map(({ table }) => table)),
  "events",
];

export type ExportedRow = { kind: string; data: JsonObject };

/** Yields every row of the tenant once. Holds at most one page and the rows that belong to it. */
export async function* listExportedRows(snapshot: Snapshot, tenantId: string): AsyncGenerator<ExportedRow> {
  for (const [kind, { keyType = "uuid" }] of Object.entries(PAGED as Record<string, ExportedTable>)) {
    for (let after: string | undefined = FIRST[keyType]; after !== undefined; ) {
      const page: { key: string; data: JsonObject }[] = await listPage(snapshot, kind, { tenantId, after });
      for (const { data } of page) yield { kind, data };
      yield* listNested(
        snapshot,
        kind,
        page.map(({ key }) => key),
      );
      after = page.length < PAGE_ROWS ? undefined : page.at(-1)!.key;
    }
  }
  yield* listEvents(snapshot, tenantId);
}

async function listPage(
  snapshot: Snapshot,
  kind: string,
  { tenantId, ...position }: { tenantId: string; after?: string; after_xact?: number; after_seq?: number },
): Promise<{ key: string; data: JsonObject }[]> {
  const rows = await snapshot.execute(LIST.get(kind)!, { tenant_id: tenantId, limit: PAGE_ROWS, ...position });
  return rows as { key: string; data: JsonObject }[];
}

async function* listNested(snapshot: Snapshot, parentKind: string, parentIds: string[]): AsyncGenerator<ExportedRow> {
  if (parentIds.length === 0) return;
  for (const [kind, { of }] of Object.entries(NESTED)) {
    if (of !== parentKind) continue;
    for (const { data } of await snapshot.execute(LIST_NESTED.get(kind)!, { parent_ids: parentIds }))
      yield { kind, data: data as JsonObject };
  }
}

async function* listEvents(snapshot: Snapshot, tenantId: string): AsyncGenerator<ExportedRow> {
  let [after_xact, after_seq] = [0, 0];
  for (;;) {
    const page = await listPage(snapshot, "event", { tenantId, after_xact, after_seq });
    for (const { data } of page) yield { kind: "event", data };
    if (page.length < PAGE_ROWS) return;
    [after_xact, after_seq] = page.at(-1)!.key.split(".").map(Number) as [number, number];
  }
}
