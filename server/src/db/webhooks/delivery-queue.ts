// The queue of webhook deliveries: dispatch, slots, attempts, requeue. Every write of an engine invocation carries
// its fencing epoch; a write with an old epoch changes nothing.
import { isSuspendedSql } from "../access/suspension.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { DeliveryStatus } from "../typed-columns.ts";
import type { DeliveryAttemptRow, DeliveryRow } from "./deliveries.ts";

/** A delivery claimed by one engine invocation. */
export type DeliveryClaim = { delivery_id: string; tenant_id: string; epoch: number };

export type DestinationLimits = { concurrency: number; perSecond: number };

/** How long a step may take without renewing its claim before the reconciler requeues the delivery. */
const DELIVERY_CLAIM_SECONDS = 120;

const DISPATCH = statement(
  "deliveries.dispatch",
  "select delivery_id, tenant_id, epoch from dispatch_active_deliveries(:slots, :per_second, :limit)",
).columns<DeliveryClaim>();

/** Claims due deliveries, without those of suspended tenants. */
export async function dispatchDeliveries(
  db: Database,
  { concurrency, perSecond }: DestinationLimits,
  limit: number,
): Promise<DeliveryClaim[]> {
  return db.execute(DISPATCH, { slots: concurrency, per_second: perSecond, limit });
}

const RETURN = statement(
  "deliveries.return",
  `update open_deliveries set dispatched_at = null, slot_until = null, claim_expires_at = null
   where delivery_id = any (:delivery_ids::uuid[])
     and epoch = (:epochs::bigint[])[array_position(:delivery_ids::uuid[], delivery_id)]`,
);

/** Returns deliveries to the queue that could not be sent to the engine, and releases their slots. */
export async function returnDeliveriesToQueue(db: Database, claims: DeliveryClaim[]): Promise<void> {
  await db.execute(RETURN, {
    delivery_ids: claims.map((claim) => claim.delivery_id),
    epochs: claims.map((claim) => claim.epoch),
  });
}

export type DueDelivery = Pick<
  DeliveryRow,
  "event_id" | "run_id" | "webhook_id" | "type" | "url" | "body" | "attempts"
> & {
  destination: string;
  host: string;
  attempt_count: number;
  seconds_until_due: number;
  /** It already has a slot at its destination. */
  has_slot: boolean;
  /** Its tenant is suspended. */
  is_suspended: boolean;
};

const RENEW_CLAIM = statement(
  "deliveries.renew_claim",
  `with claim as (
     update open_deliveries set claim_expires_at = clock_timestamp() + make_interval(secs => :seconds)
     where delivery_id = :delivery_id and epoch = :epoch
     returning tenant_id, destination, host, attempt_count, due_at, slot_until
   )
   select d.event_id, d.run_id, d.webhook_id, d.type, d.url, d.body, d.attempts, claim.destination, claim.host,
     claim.attempt_count, extract(epoch from claim.due_at - clock_timestamp())::float as seconds_until_due,
     coalesce(claim.slot_until > clock_timestamp(), false) as has_slot,
     ${isSuspendedSql("claim.tenant_id")} as is_suspended
   from claim join webhook_deliveries as d on d.delivery_id = :delivery_id`,
).columns<{ seconds_until_due: number; has_slot: boolean; is_suspended: boolean }>();

/** Renews the claim and reads the delivery. Undefined if the delivery has ended or has a newer epoch. */
export async function renewDeliveryClaim(
  db: Database,
  { delivery_id, epoch }: DeliveryClaim,
): Promise<DueDelivery | undefined> {
  const [row] = await db.execute(RENEW_CLAIM, { delivery_id, epoch, seconds: DELIVERY_CLAIM_SECONDS });
  return row;
}

const CLAIM_SLOT = statement(
  "deliveries.claim_slot",
  "select claim_destination_slot(:delivery_id, :destination, :host, :slots, :per_second) as seconds",
).columns<{ seconds: number }>();

/** Seconds after which to ask again; 0 if the delivery now has a slot. */
export async function acquireDestinationSlot(
  db: Database,
  claim: DeliveryClaim,
  { destination, host }: DueDelivery,
  { concurrency, perSecond }: DestinationLimits,
): Promise<number> {
  const [row] = await db.execute(CLAIM_SLOT, {
    delivery_id: claim.delivery_id,
    destination,
    host,
    slots: concurrency,
    per_second: perSecond,
  });
  return row!.seconds;
}

const EXTEND_CLAIM = statement(
  "deliveries.extend_claim",
  `update open_deliveries set claim_expires_at = clock_timestamp() + make_interval(secs => :seconds)
   where delivery_id = :delivery_id and epoch = :epoch`,
);

/** Extends the claim by a wait. */
export async function extendDeliveryClaim(
  db: Database,
  { delivery_id, epoch }: DeliveryClaim,
  seconds: number,
): Promise<void> {
  await db.execute(EXTEND_CLAIM, { delivery_id, epoch, seconds: seconds + DELIVERY_CLAIM_SECONDS });
}

export type DeliveryAttemptResult = {
  attempt: DeliveryAttemptRow;
  status: DeliveryStatus;
  waitSeconds?: number | undefined;
  breaker: { failures: number; seconds: number; longest: number };
};

/**
 * Failures more than a minute apart do not add up unless the breaker is open. The endpoint is locked before its
 * delivery, as by statements that disable or delete an endpoint: in the other order, they would be a deadlock.
 */
const RECORD_ATTEMPT = statement(
  "deliveries.record_attempt",
  `with locked_endpoint as (
    select from webhook_endpoints
    where webhook_id = (select webhook_id from open_deliveries where delivery_id = :delivery_id)
      and (:status <> 'delivered' or failing_since is not null)
    for no key update
  ), claim as (
    select tenant_id, webhook_id, destination from open_deliveries
    where delivery_id = :delivery_id and epoch = :epoch and (select count(*) from locked_endpoint) >= 0
    for update
  ), attempt as (
    insert into webhook_attempts (delivery_id, attempt, tenant_id, started_at, duration_ms, status, error, response)
    select :delivery_id, :attempt, tenant_id, :started_at, :duration_ms, :http_status?, :error?, :response? from claim
    on conflict do nothing
  ), delivery as (
    update webhook_deliveries set attempts = :attempt, status = :status,
      next_attempt_at = case when :status = 'pending'
        then clock_timestamp() + make_interval(secs => :wait_seconds?) end,
      finished_at = case when :status = 'pending' then null else clock_timestamp() end
    where delivery_id = :delivery_id and exists (select from claim)
  ), postponed as (
    update open_deliveries set attempt_count = open_deliveries.attempt_count + 1, slot_until = null,
      due_at = clock_timestamp() + make_interval(secs => :wait_seconds?),
      claim_expires_at = clock_timestamp() + make_interval(secs => :wait_seconds? + :claim_seconds)
    from claim where open_deliveries.delivery_id = :delivery_id and :status = 'pending'
  ), ended as (
    delete from open_deliveries using claim
    where open_deliveries.delivery_id = :delivery_id and :status <> 'pending'
  ), closed_breaker as (
    delete from webhook_circuit_breakers using claim
    where webhook_circuit_breakers.destination = claim.destination and :status = 'delivered'
  ), failed_breaker as (
    insert into webhook_circuit_breakers as h (destination, tenant_id, failures)
    select destination, tenant_id, 1 from claim where :status <> 'delivered'
    on conflict (destination) do update set
      failures = case when h.changed_at < now() - interval '60 seconds' and h.open_until is null then 1
        else h.failures + 1 end,
      openings = h.openings
        + case when h.failures + 1 >= :max_failures and coalesce(h.open_until, now()) <= now() then 1 else 0 end,
      open_until = case when h.failures + 1 >= :max_failures and coalesce(h.open_until, now()) <= now()
        then now() + make_interval(secs => least(:max_open_seconds, :open_seconds * power(2, least(h.openings, 12))))
        else h.open_until end,
      probe_until = null, changed_at = now()
  ), endpoint as (
    update webhook_endpoints
    set failing_since = case when :status = 'delivered' then null else coalesce(failing_since, now()) end
    from claim where webhook_endpoints.webhook_id = claim.webhook_id
      and (:status <> 'delivered' or failing_since is not null)
    returning extract(epoch from now() - failing_since)::float as failing_for
  )
  select (select failing_for from endpoint) as failing_for from claim`,
);

/** Records the attempt, the new state of the delivery and the circuit breaker of its destination in one statement. */
export async function recordDeliveryAttempt(
  db: Database,
  claim: DeliveryClaim,
  { attempt, status, waitSeconds, breaker }: DeliveryAttemptResult,
): Promise<{ failing_for: number | null } | undefined> {
  const [row] = await db.execute(RECORD_ATTEMPT, {
    delivery_id: claim.delivery_id,
    epoch: claim.epoch,
    attempt: attempt.attempt,
    started_at: attempt.started_at,
    duration_ms: attempt.duration_ms,
    http_status: attempt.status,
    error: attempt.error,
    response: attempt.response,
    status,
    wait_seconds: waitSeconds,
    claim_seconds: DELIVERY_CLAIM_SECONDS,
    max_failures: breaker.failures,
    open_seconds: breaker.seconds,
    max_open_seconds: breaker.longest,
  });
  return row;
}

const REQUEUE_EXPIRED = statement(
  "deliveries.requeue_expired",
  `update open_deliveries set dispatched_at = null, slot_until = null, claim_expires_at = null, epoch = default
   where delivery_id = any (array(
     select delivery_id from open_deliveries where claim_expires_at < now() limit :limit for update skip locked))
   returning delivery_id`,
);

/** Requeues deliveries whose claim has expired, with a new epoch. */
export async function requeueExpiredDeliveries(db: Database, limit: number): Promise<number> {
  const rows = await db.execute(REQUEUE_EXPIRED, { limit });
  return rows.length;
}

/** Locks by id, so that two of these statements are no deadlock. */
const REQUEUE_ALL = statement(
  "deliveries.requeue_all",
  `update open_deliveries set dispatched_at = null, slot_until = null, claim_expires_at = null, epoch = default
   where delivery_id = any (array(
     select delivery_id from open_deliveries where dispatched_at is not null order by delivery_id for update))
   returning delivery_id`,
);

/** Requeues every dispatched delivery, after the engine has lost its journal. */
export async function requeueAllDeliveries(db: Database): Promise<number> {
  const rows = await db.execute(REQUEUE_ALL);
  return rows.length;
}

const REQUEUE_LOST = statement(
  "deliveries.requeue_lost",
  `update open_deliveries set dispatched_at = null, slot_until = null, claim_expires_at = null, epoch = default
   where delivery_id = any (:delivery_ids::uuid[])
     and epoch = (:epochs::bigint[])[array_position(:delivery_ids::uuid[], delivery_id)]`,
);

/** Requeues deliveries whose invocations cannot continue, with a new epoch. */
export async function requeueLostDeliveries(db: Database, claims: { id: string; epoch: number }[]): Promise<void> {
  if (claims.length === 0) return;
  const epochs = claims.map(({ epoch }) => epoch);
  await db.execute(REQUEUE_LOST, { delivery_ids: claims.map(({ id }) => id), epochs });
}

const EXHAUST_EXPIRED = statement(
  "deliveries.exhaust_expired",
  `with deleted as (
     delete from open_deliveries where delivery_id = any (array(
       select delivery_id from open_deliveries
       where expires_at < now() and not ${isSuspendedSql("open_deliveries.tenant_id")}
       limit :limit for update skip locked))
     returning delivery_id
   )
   update webhook_deliveries set status = 'exhausted', finished_at = now(), next_attempt_at = null
   where delivery_id = any (array(select delivery_id from deleted)) returning delivery_id`,
);

/**
 * Ends deliveries whose retry schedule is over, such as those of a destination with an open circuit breaker. Those of
 * suspended tenants stay.
 */
export async function exhaustExpiredDeliveries(db: Database, limit: number): Promise<number> {
  const rows = await db.execute(EXHAUST_EXPIRED, { limit });
  return rows.length;
}
