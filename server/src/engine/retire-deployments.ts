// Removes deployments of earlier versions from the engine once they have no runs. If a version has lost all its workers
// while runs were in progress, the runs are requeued under a new epoch, so that the latest version continues them.
import type { Database } from "../db/connect.ts";
import { requeueLostClaims } from "../db/runs/open-runs.ts";
import { requeueLostDeliveries } from "../db/webhooks/delivery-queue.ts";
import type { Notifications } from "../runs/core/notifications.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { Deployment, EngineAdmin, PinnedInvocation } from "./engine-admin.ts";
import { listServedUris, toCanonicalUri } from "./worker-deployment.ts";

/** After an outage of PostgreSQL all leases have expired: workers get this long to renew them. */
const UNSERVED_GRACE_MS = 15_000;
const BATCH = 500;

type RetirementServices = Pick<Runtime, "clock" | "log"> & { database: Database; notifications: Notifications };

/** The result performs one round. It must be called repeatedly: a deployment is retired only if it stays unserved. */
export function createDeploymentRetirement(
  services: RetirementServices,
  admin: EngineAdmin,
  registerWorker: () => Promise<void>,
): (signal: AbortSignal) => Promise<void> {
  const { database, clock, log } = services;
  const unservedSince = new Map<string, number>();

  const isAbandoned = ({ id, uri }: Deployment, served: Set<string>) => {
    if (served.has(uri)) return void unservedSince.delete(id);
    const since = unservedSince.get(id) ?? clock.monotonic();
    unservedSince.set(id, since);
    return clock.monotonic() - since >= UNSERVED_GRACE_MS;
  };

  return async (signal) => {
    const deployments = await admin.listDeployments();
    const serving = await listServedUris(database, "serving");
    const draining = await listServedUris(database, "draining");
    const latest = deployments.find(({ isLatest }) => isLatest);
    // New runs go to a version without workers, for example after a rollback.
    if (latest && isAbandoned(latest, new Set(serving.map(toCanonicalUri)))) await registerWorker();

    const served = new Set([...serving, ...draining].map(toCanonicalUri));
    for (const deployment of deployments.filter(({ isLatest }) => !isLatest)) {
      if (!isAbandoned(deployment, served)) continue;
      signal.throwIfAborted();
      const lost = await admin.listPinnedInvocations(deployment.id, BATCH);
      await requeueInvocations(services, lost);
      for (const { id } of lost) await admin.killInvocation(id);
      if (lost.length === BATCH) continue;
      await admin.remove(deployment.id);
      unservedSince.delete(deployment.id);
      log.info({ deployment: deployment.uri, invocations: lost.length }, "removed a deployment without workers");
    }
  };
}

/** The idempotency key of an invocation is the ID of its run or delivery and the epoch. */
async function requeueInvocations(
  { database, notifications }: RetirementServices,
  invocations: PinnedInvocation[],
): Promise<void> {
  const claimsOf = (service: string) =>
    invocations.flatMap((invocation) => {
      const [id, epoch] = invocation.idempotencyKey?.split("#") ?? [];
      return invocation.service === service && id && epoch ? [{ id, epoch: Number(epoch) }] : [];
    });
  await requeueLostClaims(database, claimsOf("Run"));
  await requeueLostDeliveries(database, claimsOf("Webhook"));
  if (invocations.length > 0) notifications.runQueued();
}
