// Messages of webhooks and every time that one was tried, as callers may look at them, and the wish to have one sent again.
import type { Database } from "../connect.ts";

export type DeliveryStatus = "pending" | "delivered" | "exhausted" | "disabled" | "dropped";

export type DeliveryRow = {
  delivery_id: string;
  tenant_id: string;
  event_id: string;
  run_id: string | null;
  webhook_id: string | null;
  type: string;
  url: string;
  body: string | null;
  status: DeliveryStatus;
  attempts: number;
  next_attempt_at: Date | null;
  created_at: Date;
  finished_at: Date | null;
};

export type DeliveryAttemptRow = {
  attempt: number;
  started_at: Date;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response: string | null;
};

/** A delivery that is to be made: the row, and where it waits for its turn. */
export type NewDelivery = Pick<
  DeliveryRow,
  "delivery_id" | "tenant_id" | "event_id" | "run_id" | "webhook_id" | "type" | "url" | "body"
> & { destination: string; host: string };

/** What `insertDeliveries` is a part of; `$n` is the first of its values. */
export const insertDeliveriesSql = (firstParameter: number, condition = "true"): string => {
  const at = (offset: number) => `$${firstParameter + offset}`;
  return `fresh as (
     insert into webhook_deliveries (delivery_id, tenant_id, event_id, run_id, webhook_id, type, url, body)
     select delivery_id, tenant_id, event_id, run_id, webhook_id, type, url, body
     from jsonb_to_recordset(${at(0)}::jsonb) as given (delivery_id uuid, tenant_id uuid, event_id uuid, run_id uuid,
       webhook_id uuid, type text, url text, body text)
     where ${condition}
     on conflict do nothing returning delivery_id
   ), waiting as (
     insert into open_deliveries (delivery_id, tenant_id, run_id, webhook_id, destination, host, gives_up_at)
     select delivery_id, tenant_id, run_id, webhook_id, destination, host, now() + make_interval(secs => ${at(1)})
     from jsonb_to_recordset(${at(0)}::jsonb) as given (delivery_id uuid, tenant_id uuid, run_id uuid, webhook_id uuid,
       destination text, host text)
     where delivery_id in (select delivery_id from fresh)
   )`;
};

/** Those that are there already stay as they are. */
export async function insertMissingDeliveries(
  db: Database,
  deliveries: NewDelivery[],
  givesUpSeconds: number,
): Promise<void> {
  await db.query("deliveries.insert", `with ${insertDeliveriesSql(1)} select count(*) from fresh`, [
    JSON.stringify(deliveries),
    givesUpSeconds,
  ]);
}

/** What has become of these; those that there are not are left out. */
export async function findDeliveryStatuses(
  db: Database,
  tenantId: string,
  ids: string[],
): Promise<Map<string, DeliveryStatus>> {
  const rows = await db.query<Pick<DeliveryRow, "delivery_id" | "status">>(
    "deliveries.status",
    "select delivery_id, status from webhook_deliveries where tenant_id = $1 and delivery_id = any($2::uuid[])",
    [tenantId, ids],
  );
  return new Map(rows.map(({ delivery_id, status }) => [delivery_id, status]));
}

export async function findDelivery(db: Database, tenantId: string, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db.query<DeliveryRow>(
    "deliveries.find",
    "select * from webhook_deliveries where tenant_id = $1 and delivery_id = $2",
    [tenantId, id],
  );
  return row;
}

export async function listDeliveryAttempts(db: Database, tenantId: string, id: string): Promise<DeliveryAttemptRow[]> {
  return db.query<DeliveryAttemptRow>(
    "deliveries.attempts",
    `select attempt, started_at, duration_ms, status, error, response from webhook_attempts
     where tenant_id = $1 and delivery_id = $2 order by attempt`,
    [tenantId, id],
  );
}

export type DeliveryFilter = {
  webhook_id?: string | undefined;
  run_id?: string | undefined;
  status?: string | undefined;
  before?: string | undefined;
};

/** Newest first, by key-set. */
export async function listDeliveries(
  db: Database,
  tenantId: string,
  filter: DeliveryFilter,
  limit: number,
): Promise<DeliveryRow[]> {
  const values: unknown[] = [tenantId, limit];
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined);
  const clauses = asked.map(([field, value]) => {
    values.push(value);
    return ` and ${field === "before" ? "delivery_id <" : `${field} =`} $${values.length}`;
  });
  // Each set of filters is its own statement, so that each has its own plan.
  return db.query<DeliveryRow>(
    `deliveries.list.${asked.map(([field]) => field).join(".")}`,
    `select * from webhook_deliveries where tenant_id = $1${clauses.join("")} order by delivery_id desc limit $2`,
    values,
  );
}

/** Where a delivery goes and who shares its queue. */
export type DeliveryRoute = { delivery_id: string; destination: string; host: string; url: string };

/** Due at once and with its whole schedule before it, in a new round: whoever still holds the old one lets go. */
export async function reopenDeliveries(
  db: Database,
  tenantId: string,
  routes: DeliveryRoute[],
  givesUpSeconds: number,
): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    "deliveries.reopen",
    `with asked as (
       select delivery_id, destination, host, url from jsonb_to_recordset($2::jsonb)
         as given (delivery_id uuid, destination text, host text, url text)
     ), reopened as (
       update webhook_deliveries as d set status = 'pending', finished_at = null, next_attempt_at = null, url = asked.url
       from asked where d.delivery_id = asked.delivery_id and d.delivery_id = any($4::uuid[]) and d.tenant_id = $1
         and d.body is not null
       returning d.delivery_id, d.tenant_id, d.run_id, d.webhook_id, asked.destination, asked.host
     ), waiting as (
       insert into open_deliveries (delivery_id, tenant_id, run_id, webhook_id, destination, host, gives_up_at)
       select delivery_id, tenant_id, run_id, webhook_id, destination, host, now() + make_interval(secs => $3)
       from reopened
       on conflict (delivery_id) do update set round = excluded.round, tried = 0,
         due_at = now(), gives_up_at = excluded.gives_up_at, dispatched_at = null, busy_until = null, alive_until = null
     )
     select delivery_id from reopened`,
    [tenantId, JSON.stringify(routes), givesUpSeconds, routes.map((route) => route.delivery_id)],
  );
  return rows.map((row) => row.delivery_id);
}
