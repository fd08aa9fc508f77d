// A background duty: a loop whose work only the holder of a lease does. The lease is kept from one turn to the next and
// renewed in time, also while the work takes longer than the lease. Work whose lease is lost is aborted, so two
// processes never do the same duty at once.
import type { Database } from "../db/connect.ts";
import { acquireLeases } from "../db/leases.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { Timer } from "../runtime/clock.ts";
import { type Loop, startLoop } from "./loop.ts";

const LEASE_SECONDS = 15;
/** A lease is renewed after a third of its length, so it survives a renewal that fails. */
const RENEWALS_PER_LEASE = 3;

export type DutyContext = Pick<Runtime, "clock" | "log"> & { database: Database; holder: string };

export type Duty = {
  /** Name of the lease, and of the loop in the log. */
  name: string;
  intervalMs: number;
  /**
   * Returns whether there is more to do at once. The work stops when `signal` is aborted: it checks the signal between
   * its items.
   */
  work(signal: AbortSignal): Promise<boolean>;
  leaseSeconds?: number;
};

/** `until`: the end of the lease by the monotonic clock of this process. */
type Lease = { until: number };

export function startDuty(context: DutyContext, duty: Duty): Loop {
  const lease: Lease = { until: Number.NEGATIVE_INFINITY };
  return startLoop(context, duty.name, duty.intervalMs, () => workUnderLease(context, duty, lease));
}

async function workUnderLease(
  { database, clock, log, holder }: DutyContext,
  { name, work, leaseSeconds = LEASE_SECONDS }: Duty,
  lease: Lease,
): Promise<boolean> {
  const leaseMs = leaseSeconds * 1000;
  const renewalMs = leaseMs / RENEWALS_PER_LEASE;
  const lost = new AbortController();
  const stopWork = () => {
    if (hasEnded || lost.signal.aborted) return;
    lost.abort(new Error(`the lease ${name} was lost`));
    log.warn({ duty: name }, "the lease of a duty was lost during its work; the work is stopped");
  };
  let hasEnded = false;
  let expiry: Timer | undefined;
  const stopAtExpiry = () => {
    expiry?.stop();
    if (!hasEnded) expiry = clock.after(lease.until - clock.monotonic(), stopWork);
  };
  const renew = async (): Promise<boolean> => {
    // Measured before the request, so that this process never holds the lease for longer than the database grants it.
    const until = clock.monotonic() + leaseMs;
    const [heldLease] = await acquireLeases(database, holder, [name], leaseSeconds);
    lease.until = heldLease ? until : Number.NEGATIVE_INFINITY;
    expiry?.stop();
    if (heldLease) stopAtExpiry();
    return heldLease !== undefined;
  };
  const isFresh = lease.until - clock.monotonic() > leaseMs - renewalMs;
  if (isFresh) stopAtExpiry();
  else if (!(await renew())) return false;
  const renewal = clock.every(renewalMs, () => {
    void renew().then(
      (isHeld) => isHeld || stopWork(),
      // A database that cannot be reached says nothing: the lease ends by the clock.
      () => undefined,
    );
  });
  try {
    return await work(lost.signal);
  } finally {
    hasEnded = true;
    renewal.stop();
    expiry?.stop();
  }
}
