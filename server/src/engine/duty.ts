// A background duty: a loop whose work only the holder of a lease does. The lease is renewed while the work takes
// longer than the lease, and work whose lease is lost is aborted, so two processes never do the same duty at once.
import { acquireLeases } from "../db/leases.ts";
import type { Services } from "../runs/services.ts";
import { type Loop, startLoop } from "./loop.ts";

const LEASE_SECONDS = 15;
/** Renewals per lease length: a lease survives two renewals that fail. */
const RENEWALS_PER_LEASE = 3;

export type DutyContext = Pick<Services, "database" | "clock" | "log"> & { holder: string };

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

export function startDuty(context: DutyContext, duty: Duty): Loop {
  return startLoop(duty.name, duty.intervalMs, () => workUnderLease(context, duty), context.log);
}

async function workUnderLease({ database, clock, log, holder }: DutyContext, duty: Duty): Promise<boolean> {
  const { name, work, leaseSeconds = LEASE_SECONDS } = duty;
  const lost = new AbortController();
  const stopWork = () => {
    if (hasEnded || lost.signal.aborted) return;
    lost.abort(new Error(`the lease ${name} was lost`));
    log.warn({ duty: name }, "the lease of a duty was lost during its work; the work is stopped");
  };
  let hasEnded = false;
  let expiry: NodeJS.Timeout | undefined;
  const renew = async (): Promise<boolean> => {
    // Measured before the request, so that this process never holds the lease for longer than the database grants it.
    const until = clock.monotonic() + leaseSeconds * 1000;
    const [heldLease] = await acquireLeases(database, holder, [name], leaseSeconds);
    clearTimeout(expiry);
    if (heldLease && !hasEnded) expiry = setTimeout(stopWork, until - clock.monotonic());
    return heldLease !== undefined;
  };
  if (!(await renew())) return false;
  const renewal = setInterval(
    () => {
      void renew().then(
        (isHeld) => isHeld || stopWork(),
        // A database that cannot be reached says nothing: the lease ends by the clock.
        () => undefined,
      );
    },
    (leaseSeconds * 1000) / RENEWALS_PER_LEASE,
  );
  try {
    return await work(lost.signal);
  } finally {
    hasEnded = true;
    clearInterval(renewal);
    clearTimeout(expiry);
  }
}
