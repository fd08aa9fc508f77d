// Webhook deliveries and their attempts: inserting, reading and reopening them.

import type { Database } from "../connect.ts";
import { statement, statementVariants } from "../statement.ts";
import type { DeliveryStatus } from "../typed-columns.ts";

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

/** A new delivery: its row, and the queue it waits in. */
export type NewDelivery = Pick<
  DeliveryRow,
  "delivery_id" | "tenant_id" | "event_id" | "run_id" | "webhook_id" | "type" | "url" | "body"
> & { destination: string; host: string };

const DELIVERY_COLUMN_NAMES = [
  ...["delivery_id", "tenant_id", "event_id", "run_id", "webhook_id", "type", "url", "body", "status", "attempts"],
  ...["next_attempt_at", "created_at", "finished_at"],
];
export const DELIVERY_COLUMNS = DELIVERY_COLUMN_NAMES.join(", ");

/**
 * CTEs `inserted` and `opened` that insert the deliveries that do not exist yet, if `when` is true. Their parameters
 * are `deliveriesParameters`.
 */
export const insertDeliveriesSql = ({ when = "true" } = {}): string => `inserted as (
     insert into webhook_deliveries (delivery_id, tenant_id, event_id, run_id, webhook_id, type, url, body)
     select delivery_id, tenant_id, event_id, run_id, webhook_id, type, url, body
     from jsonb_to_recordset(:deliveries::jsonb) as given (delivery_id uuid, tenant_id uuid, event_id uuid, run_id uuid,
       webhook_id uuid, type text, url text, body text)
     where ${when}
     on conflict do nothing returning delivery_id
   ), opened as (
     insert into open_deliveries (delivery_id, tenant_id, run_id, webhook_id, destination, host, expires_at)
     select delivery_id, tenant_id, run_id, webhook_id, destination, host,
       now() + make_interval(secs => :expires_after_seconds)
     from jsonb_to_recordset(:deliveries::jsonb) as given (delivery_id uuid, tenant_id uuid, run_id uuid,
       webhook_id uuid, destination text, host text)
     where delivery_id in (select delivery_id from inserted)
   )`;

export const deliveriesParameters = (deliveries: NewDelivery[], expiresAfterSeconds: number) => ({
  deliveries: JSON.stringify(deliveries),
  expires_after_seconds: expiresAfterSeconds,
});

const INSERT_MISSING = statement(
  "deliveries.insert_missing",
  `with ${insertDeliveriesSql()} select count(*) from inserted`,
);

/** Idempotent: deliveries that exist stay as they are. */
export async function insertMissingDeliveries(
  db: Database,
  deliveries: NewDelivery[],
  expiresAfterSeconds: number,
): Promise<void> {
  await db.execute(INSERT_MISSING, deliveriesParameters(deliveries, expiresAfterSeconds));
}

const FIND_STATUSES = statement(
  "deliveries.find_statuses",
  `select delivery_id, status from webhook_deliveries
   where tenant_id = :tenant_id and delivery_id = any(:delivery_ids::uuid[])`,
);

/** The status of each of these deliveries that exists. */
export async function findDeliveryStatuses(
  db: Database,
  tenantId: string,
  ids: string[],
): Promise<Map<string, DeliveryStatus>> {
  const rows = await db.execute(FIND_STATUSES, { tenant_id: tenantId, delivery_ids: ids });
  return new Map(rows.map(({ delivery_id, status }) => [delivery_id, status]));
}

const FIND = statement(
  "deliveries.find",
  `select ${DELIVERY_COLUMNS} from webhook_deliveries where tenant_id = :tenant_id and delivery_id = :delivery_id`,
);

export async function findDelivery(db: Database, tenantId: string, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId, delivery_id: id });
  return row;
}

const LIST_ATTEMPTS = statement(
  "deliveries.list_attempts",
  `select attempt, started_at, duration_ms, status, error, response from webhook_attempts
   where tenant_id = :tenant_id and delivery_id = :delivery_id order by attempt`,
);

export async function listDeliveryAttempts(db: Database, tenantId: string, id: string): Promise<DeliveryAttemptRow[]> {
  return db.execute(LIST_ATTEMPTS, { tenant_id: tenantId, delivery_id: id });
}

export type DeliveryFilter = {
  webhook_id?: string | undefined;
  run_id?: string | undefined;
  status?: string | undefined;
  before?: string | undefined;
};

const CONDITIONS = {
  webhook_id: "webhook_id = :webhook_id",
  run_id: "run_id = :run_id",
  status: "status = :status",
  before: "delivery_id < :before",
} satisfies Record<keyof DeliveryFilter, string>;
const FILTERS = Object.keys(CONDITIONS) as (keyof DeliveryFilter)[];

const LIST = statementVariants("deliveries.list", Object.fromEntries(listVariants()));

/** Every set of filters is a statement of its own, so that each has its own plan. */
function* listVariants() {
  for (let bits = 0; bits < 2 ** FILTERS.length; bits++) {
    const filters = FILTERS.filter((_, index) => bits & (1 << index));
    const conditions = filters.map((filter) => ` and ${CONDITIONS[filter]}`).join("");
    yield [
      filters.join("."),
      `select ${DELIVERY_COLUMNS} from webhook_deliveries
       where tenant_id = :tenant_id${conditions} order by delivery_id desc limit :limit`,
    ] as const;
  }
}

/** Newest first, with keyset pagination. */
export async function listDeliveries(
  db: Database,
  tenantId: string,
  filter: DeliveryFilter,
  limit: number,
): Promise<DeliveryRow[]> {
  const variant = FILTERS.filter((name) => filter[name] !== undefined).join(".");
  const { webhook_id, run_id, status, before } = filter;
  return db.execute(LIST.get(variant)!, { tenant_id: tenantId, limit, webhook_id, run_id, status, before });
}

/** The destination of a delivery. */
export type DeliveryRoute = { delivery_id: string; destination: string; host: string; url: string };

const REOPEN = statement(
  "deliveries.reopen",
  `with route as (
     select delivery_id, destination, host, url from jsonb_to_recordset(:routes::jsonb)
       as given (delivery_id uuid, destination text, host text, url text)
   ), reopened as (
     update webhook_deliveries as d set status = 'pending', finished_at = null, next_attempt_at = null, url = route.url
     from route where d.delivery_id = route.delivery_id and d.delivery_id = any(:delivery_ids::uuid[])
       and d.tenant_id = :tenant_id and d.body is not null
     returning d.delivery_id, d.tenant_id, d.run_id, d.webhook_id, route.destination, route.host
   ), opened as (
     insert into open_deliveries (delivery_id, tenant_id, run_id, webhook_id, destination, host, expires_at)
     select delivery_id, tenant_id, run_id, webhook_id, destination, host,
       now() + make_interval(secs => :expires_after_seconds)
     from reopened
     on conflict (delivery_id) do update set epoch = excluded.epoch, attempt_count = 0, due_at = now(),
       expires_at = excluded.expires_at, dispatched_at = null, slot_until = null, claim_expires_at = null
   )
   select delivery_id from reopened`,
);

/**
 * Reopens deliveries: due at once, with a new retry schedule and a new epoch, which fences the claim of the old one.
 */
export async function reopenDeliveries(
  db: Database,
  tenantId: string,
  routes: DeliveryRoute[],
  expiresAfterSeconds: number,
): Promise<string[]> {
  const rows = await db.execute(REOPEN, {
    tenant_id: tenantId,
    routes: JSON.stringify(routes),
    delivery_ids: routes.map((route) => route.delivery_id),
    expires_after_seconds: expiresAfterSeconds,
  });
  return rows.map((row) => row.delivery_id);
}
