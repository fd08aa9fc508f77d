// Concurrency slots and rate limits of providers, shared by all processes.

import type { Database } from "../connect.ts";
import type { RunClaim } from "../run-claims.ts";
import { statement } from "../statement.ts";

const CLAIM = statement(
  "provider_slots.claim",
  "select claim_provider_slot(:provider, :run_id, :epoch, :request_index::smallint, :slots) as is_claimed",
);

/** Claims a concurrency slot of the provider; the request holds it until it has ended or the run ends. */
export async function claimProviderSlot(
  db: Database,
  provider: string,
  { run_id, epoch, requestIndex }: RunClaim & { requestIndex: number },
  slots: number,
): Promise<boolean> {
  const [row] = await db.execute(CLAIM, { provider, run_id, epoch, request_index: requestIndex, slots });
  return row?.is_claimed === true;
}

const TAKE_TOKEN = statement(
  "provider_slots.take_token",
  "select take_rate_limit_token(:provider, :per_minute) as seconds",
);

/** Seconds until a request may be sent; 0 if it may be sent now and was counted. */
export async function takeRateLimitToken(db: Database, provider: string, perMinute: number): Promise<number> {
  const [row] = await db.execute(TAKE_TOKEN, { provider, per_minute: perMinute });
  return row?.seconds ?? 0;
}
