// How offers have fared lately, as all processes see it. Only failures are written; the first success takes the row away.
import type { Database } from "../connect.ts";

export type CircuitBreakerRow = {
  provider: string;
  upstream: string;
  failures: number;
  /** Seconds until it may be tried again; not positive when it may. Null: it is not shut. */
  shut_for: number | null;
};

const BREAKER_COLUMNS = `provider, upstream, failures, extract(epoch from open_until - now())::float as shut_for`;

export async function listCircuitBreakers(db: Database): Promise<CircuitBreakerRow[]> {
  return db.query<CircuitBreakerRow>("health.read", `select ${BREAKER_COLUMNS} from offer_health`);
}

export type CircuitBreakerPolicy = { failures: number; seconds: number };

/** One more failure. After as many as the rule says it is shut, each time twice as long; long-ago failures do not count. */
export async function recordOfferFailure(
  db: Database,
  provider: string,
  upstream: string,
  rule: CircuitBreakerPolicy,
): Promise<CircuitBreakerRow> {
  const [row] = await db.query<CircuitBreakerRow>(
    "health.failure",
    `insert into offer_health as h (provider, upstream, failures) values ($1, $2, 1)
     on conflict (provider, upstream) do update set
       failures = case when h.changed_at < now() - interval '60 seconds' and h.open_until is null then 1
         else h.failures + 1 end,
       openings = h.openings + case when h.failures + 1 >= $3 and coalesce(h.open_until, now()) <= now() then 1 else 0 end,
       open_until = case when h.failures + 1 >= $3 and coalesce(h.open_until, now()) <= now()
         then now() + make_interval(secs => least(300, $4 * power(2, least(h.openings, 8)))) else h.open_until end,
       probe_until = null, changed_at = now()
     returning ${BREAKER_COLUMNS}`,
    [provider, upstream, rule.failures, rule.seconds],
  );
  return row!;
}

export async function recordOfferSuccess(db: Database, provider: string, upstream: string): Promise<void> {
  await db.query("health.success", "delete from offer_health where provider = $1 and upstream = $2", [
    provider,
    upstream,
  ]);
}

/** One request may go out to see whether it works again; whoever gets this right must send. */
export async function claimProbe(db: Database, provider: string, upstream: string, seconds: number): Promise<boolean> {
  const rows = await db.query(
    "health.probe",
    `update offer_health set probe_until = now() + make_interval(secs => $3)
     where provider = $1 and upstream = $2 and open_until <= now() and coalesce(probe_until, now()) <= now()
     returning provider`,
    [provider, upstream, seconds],
  );
  return rows.length > 0;
}
