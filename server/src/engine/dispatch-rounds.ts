// The rounds of the leading dispatcher: find queues with runs, pick the next runs by fair queueing within the capacity,
// claim them, and start them in the engine. Runs that the engine does not accept return to the queue.

import {
  claimQueuedRuns,
  type DispatchedRun,
  listQueues,
  listTenantWeights,
  type QueueKey,
  returnToQueue,
  saveStartRates,
} from "../db/runs/queue.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import { type CapacityDependencies, createDispatchCapacity } from "./dispatch-capacity.ts";
import type { EngineClient } from "./engine-client.ts";
import { createFairQueue } from "./fair-queue.ts";
import { startRuns } from "./start-runs.ts";

const BATCH = 200;
/**
 * Notifications may be late or lost, so the queues are also scanned. A slow scan is repeated less often, at most a
 * second later.
 */
const MIN_SCAN_INTERVAL_MS = 75;
const SCAN_INTERVAL_FACTOR = 20;

export type DispatchRounds = {
  /** A run was queued. The payload is `tenant/lane`; anything else causes a scan of all queues. */
  onRunQueued(payload: string): void;
  /** `full`: runs are queued and none of them may start yet. */
  runRound(): Promise<"nothing" | "full" | "more">;
  refresh(workers: number): Promise<void>;
};

export type DispatchDependencies = CapacityDependencies & Pick<Runtime, "log" | "crashPoint" | "tracing">;

export function createDispatchRounds(services: DispatchDependencies, engineClient: EngineClient): DispatchRounds {
  const queue = createFairQueue();
  const capacity = createDispatchCapacity(services);
  const startsByTenant = new Map<string, number>();
  let queuedDuringClaim: QueueKey[] = [];
  let nextScanAt = Number.NEGATIVE_INFINITY;
  let ratesSavedAt = services.clock.monotonic();

  const scanQueues = async () => {
    const beginning = services.clock.monotonic();
    for (const each of await listQueues(services.database)) queue.add(each);
    const end = services.clock.monotonic();
    nextScanAt = end + Math.max(MIN_SCAN_INTERVAL_MS, Math.min(1000, (end - beginning) * SCAN_INTERVAL_FACTOR));
  };

  const claimRuns = async (asked: ReturnType<typeof queue.pickNext>) => {
    queuedDuringClaim = [];
    // A claim that failed must not advance the virtual clocks of the tenants.
    const taken = await claimQueuedRuns(services.database, asked).catch((thrown) => {
      queue.settle(asked, []);
      nextScanAt = Number.NEGATIVE_INFINITY;
      throw thrown;
    });
    queue.settle(asked, taken);
    // A run that was queued while the claim found its queue empty is still there.
    for (const each of queuedDuringClaim) queue.add(each);
    capacity.recordDispatched(taken);
    for (const { tenant_id } of taken) startsByTenant.set(tenant_id, (startsByTenant.get(tenant_id) ?? 0) + 1);
    return taken;
  };

  const startOrReturn = async (batch: DispatchedRun[]) => {
    const failed = await startRuns(services, engineClient, batch);
    if (failed.length === 0) return;
    services.log.warn({ runs: failed.length }, "starting runs in the engine failed; runs returned to the queue");
    await returnToQueue(services.database, failed);
  };

  return {
    onRunQueued(payload) {
      const [tenant_id, lane] = payload.split("/") as [string, string?];
      if (lane === undefined) nextScanAt = Number.NEGATIVE_INFINITY;
      else {
        queue.add({ tenant_id, lane });
        queuedDuringClaim.push({ tenant_id, lane });
      }
    },
    async runRound() {
      // In parallel, because queued runs wait for the end of the round.
      const [free] = await Promise.all([
        capacity.freeSlots(),
        services.clock.monotonic() > nextScanAt ? scanQueues() : undefined,
      ]);
      if (queue.isEmpty()) return "nothing";
      const picks = queue.pickNext(Math.min(BATCH, free), capacity.laneCapacity);
      if (picks.length === 0) return "full";
      const taken = await claimRuns(picks);
      if (taken.length > 0) {
        services.crashPoint("taken_from_queue");
        void startOrReturn(taken).catch((thrown) =>
          services.log.warn({ err: thrown }, "returning runs to the queue failed"),
        );
      }
      return "more";
    },
    /** Also stores the start rate of each tenant, from which the API estimates the start of a queued run. */
    async refresh(workers) {
      capacity.setWorkers(workers);
      queue.setWeights(await listTenantWeights(services.database));
      const seconds = (services.clock.monotonic() - ratesSavedAt) / 1000;
      const startRates = new Map(queue.tenants().map((id) => [id, (startsByTenant.get(id) ?? 0) / seconds]));
      ratesSavedAt = services.clock.monotonic();
      startsByTenant.clear();
      if (startRates.size > 0) await saveStartRates(services.database, startRates);
    },
  };
}
