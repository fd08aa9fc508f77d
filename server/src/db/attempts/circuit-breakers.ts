// Circuit breakers of offers, shared by all processes. Only failures are written; the first success deletes the row.
// The list also has the providers that operators have paused.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type CircuitBreakerRow = {
  provider: string;
  upstream: string;
  failures: number;
  /** Seconds until the breaker allows a probe; not positive if it does. Null: the breaker is closed. */
  open_seconds: number | null;
};

const BREAKER_COLUMNS = "provider, upstream, failures, extract(epoch from open_until - now())::float as open_seconds";

/** The name of all offers of a provider that an operator has paused. */
export const ALL_OFFERS = "*";

const LIST = statement(
  "circuit_breakers.list",
  `select ${BREAKER_COLUMNS} from circuit_breakers
   union all select name, '${ALL_OFFERS}', 0, null from pauses where kind = 'provider'`,
).columns<{ provider: string; upstream: string; failures: number }>();

export async function listCircuitBreakers(db: Database): Promise<CircuitBreakerRow[]> {
  return db.execute(LIST);
}

export type CircuitBreakerPolicy = { failures: number; seconds: number };

const RECORD_FAILURE = statement(
  "circuit_breakers.record_failure",
  `insert into circuit_breakers as h (provider, upstream, failures) values (:provider, :upstream, 1)
   on conflict (provider, upstream) do update set
     failures = case when h.changed_at < now() - interval '60 seconds' and h.open_until is null then 1
       else h.failures + 1 end,
     openings = h.openings
       + case when h.failures + 1 >= :max_failures and coalesce(h.open_until, now()) <= now() then 1 else 0 end,
     open_until = case when h.failures + 1 >= :max_failures and coalesce(h.open_until, now()) <= now()
       then now() + make_interval(secs => least(300, :seconds * power(2, least(h.openings, 8)))) else h.open_until end,
     probe_until = null, changed_at = now()
   returning ${BREAKER_COLUMNS}`,
);

/**
 * Counts a failure. The breaker opens after as many failures as the policy allows, each time for twice as long;
 * failures more than 60 seconds apart do not add up.
 */
export async function recordOfferFailure(
  db: Database,
  provider: string,
  upstream: string,
  { failures, seconds }: CircuitBreakerPolicy,
): Promise<CircuitBreakerRow> {
  const [row] = await db.execute(RECORD_FAILURE, { provider, upstream, max_failures: failures, seconds });
  return row!;
}

const RECORD_SUCCESS = statement(
  "circuit_breakers.record_success",
  "delete from circuit_breakers where provider = :provider and upstream = :upstream",
);

export async function recordOfferSuccess(db: Database, provider: string, upstream: string): Promise<void> {
  await db.execute(RECORD_SUCCESS, { provider, upstream });
}

const CLAIM_PROBE = statement(
  "circuit_breakers.claim_probe",
  `update circuit_breakers set probe_until = now() + make_interval(secs => :seconds)
   where provider = :provider and upstream = :upstream and open_until <= now() and coalesce(probe_until, now()) <= now()
   returning provider`,
);

/** Claims the one request that probes an open breaker; a caller that gets true must send it. */
export async function claimProbe(db: Database, provider: string, upstream: string, seconds: number): Promise<boolean> {
  const rows = await db.execute(CLAIM_PROBE, { provider, upstream, seconds });
  return rows.length > 0;
}
