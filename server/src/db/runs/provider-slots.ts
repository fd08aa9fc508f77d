// How much of a provider all our processes use together: so many jobs at a time, so many requests a minute.
import type { Database } from "../connect.ts";
import type { RunClaim } from "./open-runs.ts";

/** A place at the provider for this run, kept until its job is made or the run ends. */
export async function claimProviderSlot(
  db: Database,
  provider: string,
  claim: RunClaim,
  slots: number,
): Promise<boolean> {
  const [row] = await db.query<{ taken: boolean }>("pace.place", "select take_place($1, $2, $3, $4) as taken", [
    provider,
    claim.run_id,
    claim.epoch,
    slots,
  ]);
  return row?.taken === true;
}

/** Seconds until a request may leave; 0: it may leave now, and has been counted. */
export async function takeRateLimitToken(db: Database, provider: string, perMinute: number): Promise<number> {
  const [row] = await db.query<{ seconds: number }>("pace.turn", "select take_turn($1, $2) as seconds", [
    provider,
    perMinute,
  ]);
  return row?.seconds ?? 0;
}
