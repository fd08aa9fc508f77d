// What webhooks still have to send: who may send now, what came of it, and what was lost on the way. Writes of an engine
// invocation name its round; those of one that has been given up on change nothing.
import type { Database } from "../connect.ts";
import type { DeliveryAttemptRow, DeliveryRow, DeliveryStatus } from "./deliveries.ts";

/** A delivery in the hands of one engine invocation. */
export type DeliveryClaim = { delivery_id: string; tenant_id: string; round: number };

export type DestinationLimits = { places: number; perSecond: number };

/** How long a step may be silent before its delivery counts as lost by the engine. */
const DELIVERY_CLAIM_SECONDS = 120;

export async function dispatchDeliveries(db: Database, { places, perSecond }: DestinationLimits, limit: number) {
  return db.query<DeliveryClaim>("deliveries.dispatch", "select * from dispatch_deliveries($1, $2, $3)", [
    places,
    perSecond,
    limit,
  ]);
}

/** What could not be handed to the engine waits again, and its places are free. */
export async function returnDeliveriesToQueue(db: Database, claim: DeliveryClaim[]): Promise<void> {
  await db.query(
    "deliveries.putBack",
    `update open_deliveries set dispatched_at = null, busy_until = null, alive_until = null
     where delivery_id = any ($1::uuid[]) and round = ($2::bigint[])[array_position($1::uuid[], delivery_id)]`,
    [claim.map((each) => each.delivery_id), claim.map((each) => each.round)],
  );
}

export type DueDelivery = Pick<
  DeliveryRow,
  "event_id" | "run_id" | "webhook_id" | "type" | "url" | "body" | "attempts"
> & {
  destination: string;
  host: string;
  tried: number;
  /** Seconds until it is due. */
  wait: number;
  /** It has a place at its destination already. */
  has_place: boolean;
};

/** A step that asks is alive. Undefined: the delivery has ended, or is another's by now. */
export async function renewDeliveryClaim(db: Database, claim: DeliveryClaim): Promise<DueDelivery | undefined> {
  const [row] = await db.query<DueDelivery>(
    "deliveries.turn",
    `with mine as (
       update open_deliveries set alive_until = clock_timestamp() + make_interval(secs => $3)
       where delivery_id = $1 and round = $2 returning *
     )
     select d.event_id, d.run_id, d.webhook_id, d.type, d.url, d.body, d.attempts, o.destination, o.host, o.tried,
       extract(epoch from o.due_at - clock_timestamp())::float as wait,
       coalesce(o.busy_until > clock_timestamp(), false) as has_place
     from mine as o join webhook_deliveries as d on d.delivery_id = $1`,
    [claim.delivery_id, claim.round, DELIVERY_CLAIM_SECONDS],
  );
  return row;
}

/** Seconds after which to ask again; 0: there is a place now. */
export async function takePlace(
  db: Database,
  claim: DeliveryClaim,
  turn: DueDelivery,
  pace: DestinationLimits,
): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(
    "deliveries.place",
    "select take_webhook_place($1, $2, $3, $4, $5) as seconds",
    [claim.delivery_id, turn.destination, turn.host, pace.places, pace.perSecond],
  );
  return row!.seconds;
}

/** It will be silent for so long, and that is in order. */
export async function extendDeliveryClaim(db: Database, claim: DeliveryClaim, seconds: number): Promise<void> {
  await db.query(
    "deliveries.expect",
    `update open_deliveries set alive_until = clock_timestamp() + make_interval(secs => $3)
     where delivery_id = $1 and round = $2`,
    [claim.delivery_id, claim.round, seconds + DELIVERY_CLAIM_SECONDS],
  );
}

export type DeliveryAttemptResult = {
  attempt: DeliveryAttemptRow;
  status: DeliveryStatus;
  waitSeconds?: number | undefined;
  breaker: { failures: number; seconds: number; longest: number };
};

/** The attempt, what the delivery is now, and how its destination fares, in one statement. */
export async function recordDeliveryAttempt(
  db: Database,
  claim: DeliveryClaim,
  { attempt, status, waitSeconds, breaker }: DeliveryAttemptResult,
): Promise<{ failing_for: number | null } | undefined> {
  const [row] = await db.query<{ failing_for: number | null }>("deliveries.note", RECORD_ATTEMPT, [
    ...[claim.delivery_id, claim.round, attempt.attempt, attempt.started_at, attempt.duration_ms, attempt.status],
    ...[attempt.error, attempt.response, status, waitSeconds, DELIVERY_CLAIM_SECONDS],
    ...[breaker.failures, breaker.seconds, breaker.longest],
  ]);
  return row;
}

/** Failures that lie a minute apart do not add up, unless the destination is being left alone already. */
const RECORD_ATTEMPT = `
  with mine as (
    select * from open_deliveries where delivery_id = $1 and round = $2 for update
  ), tried as (
    insert into webhook_attempts (delivery_id, attempt, tenant_id, started_at, duration_ms, status, error, response)
    select $1, $3, tenant_id, $4, $5, $6, $7, $8 from mine on conflict do nothing
  ), told as (
    update webhook_deliveries set attempts = $3, status = $9,
      next_attempt_at = case when $9 = 'pending' then clock_timestamp() + make_interval(secs => $10) end,
      finished_at = case when $9 = 'pending' then null else clock_timestamp() end
    where delivery_id = $1 and exists (select from mine)
  ), later as (
    update open_deliveries set tried = open_deliveries.tried + 1, busy_until = null,
      due_at = clock_timestamp() + make_interval(secs => $10),
      alive_until = clock_timestamp() + make_interval(secs => $10 + $11)
    from mine where open_deliveries.delivery_id = $1 and $9 = 'pending'
  ), ended as (
    delete from open_deliveries using mine where open_deliveries.delivery_id = $1 and $9 <> 'pending'
  ), healed as (
    delete from webhook_health using mine where webhook_health.destination = mine.destination and $9 = 'delivered'
  ), worse as (
    insert into webhook_health as h (destination, tenant_id, failures)
    select destination, tenant_id, 1 from mine where $9 <> 'delivered'
    on conflict (destination) do update set
      failures = case when h.changed_at < now() - interval '60 seconds' and h.open_until is null then 1 else h.failures + 1 end,
      openings = h.openings + case when h.failures + 1 >= $12 and coalesce(h.open_until, now()) <= now() then 1 else 0 end,
      open_until = case when h.failures + 1 >= $12 and coalesce(h.open_until, now()) <= now()
        then now() + make_interval(secs => least($14, $13 * power(2, least(h.openings, 12)))) else h.open_until end,
      probe_until = null, changed_at = now()
  ), standing as (
    update webhooks set failing_since = case when $9 = 'delivered' then null else coalesce(failing_since, now()) end
    from mine where webhooks.webhook_id = mine.webhook_id and ($9 <> 'delivered' or failing_since is not null)
    returning extract(epoch from now() - failing_since)::float as failing_for
  )
  select (select failing_for from standing) as failing_for from mine`;

/** Deliveries that nobody has heard of in time start anew, in a new round. */
export async function requeueExpiredDeliveries(db: Database, limit: number): Promise<number> {
  const rows = await db.query(
    "deliveries.requeue",
    `update open_deliveries set dispatched_at = null, busy_until = null, alive_until = null, round = default
     where delivery_id = any (array(
       select delivery_id from open_deliveries where alive_until < now() limit $1 for update skip locked))
     returning delivery_id`,
    [limit],
  );
  return rows.length;
}

/** The engine has forgotten everything: what it held starts anew, when it is due. */
export async function requeueAllDeliveries(db: Database): Promise<number> {
  const rows = await db.query(
    "deliveries.requeueAll",
    `update open_deliveries set dispatched_at = null, busy_until = null, alive_until = null, round = default
     where dispatched_at is not null returning delivery_id`,
  );
  return rows.length;
}

/** What stood before a shut door for longer than any schedule is given up. */
export async function exhaustExpiredDeliveries(db: Database, limit: number): Promise<number> {
  const rows = await db.query(
    "deliveries.giveUp",
    `with gone as (
       delete from open_deliveries where delivery_id = any (array(
         select delivery_id from open_deliveries where gives_up_at < now() limit $1 for update skip locked))
       returning delivery_id
     )
     update webhook_deliveries set status = 'exhausted', finished_at = now(), next_attempt_at = null
     where delivery_id = any (array(select delivery_id from gone)) returning delivery_id`,
    [limit],
  );
  return rows.length;
}
