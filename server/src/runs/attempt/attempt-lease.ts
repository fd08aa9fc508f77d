// The lease under which a process sends a request and stores its response. Times are measured from before the claim was
// sent to PostgreSQL, so a stall of this process never makes it rely on a lease that has expired.

import { type AttemptRef, renewAttemptLease } from "../../db/attempts/attempts.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import type { HeldLease } from "../offers/provider-context.ts";
import type { AttemptDependencies } from "./attempt-dependencies.ts";

const LEASE_MARGIN_SECONDS = 5;

export const leaseSeconds = ({ settings }: Pick<AttemptDependencies, "settings">) =>
  settings.timeouts.submitSeconds + LEASE_MARGIN_SECONDS;

/** A lease is renewed after a third of its length. */
const renewalSeconds = (services: Pick<AttemptDependencies, "settings">) => leaseSeconds(services) / 3;

/** After an outage of PostgreSQL, a process that lives has renewed its leases after this time. */
export const renewalGraceSeconds = (services: Pick<AttemptDependencies, "settings">) =>
  renewalSeconds(services) + LEASE_MARGIN_SECONDS;

/** An attempt whose lease this process holds: the token of the lease, and when this process asked for it. */
export type LeasedAttempt = AttemptRef & { leaseToken?: string | undefined; leasedAt?: number | undefined };

type Dependencies = Pick<AttemptDependencies, "database" | "settings" | "clock">;

/**
 * Does the work and renews the lease meanwhile. If this process dies, the lease expires soon and another worker
 * resolves the attempt.
 */
export async function withLease<T>(
  services: Dependencies,
  claim: RunClaim,
  attempt: LeasedAttempt,
  work: (lease: HeldLease) => Promise<T>,
): Promise<T> {
  const { database, clock } = services;
  const milliseconds = leaseSeconds(services) * 1000;
  const startedAt = attempt.leasedAt ?? clock.monotonic();
  const lease: HeldLease = { startedAt, endsAt: startedAt + milliseconds, isLost: false };
  const renew = async () => {
    const renewedAt = clock.monotonic();
    lease.isLost = !(await renewAttemptLease(database, claim, attempt, leaseSeconds(services)));
    if (!lease.isLost) lease.endsAt = renewedAt + milliseconds;
  };
  // A renewal that fails is repeated by the next one.
  const timer = clock.every(renewalSeconds(services) * 1000, () => void renew().catch(() => {}));
  try {
    return await work(lease);
  } finally {
    timer.stop();
  }
}
