// Start-time fair queueing. Every start advances the virtual clock of its tenant by 1 / weight; the tenant with the
// lowest clock is next. A tenant that returns after a pause starts at the system clock, so it neither loses nor saves
// up turns.
import type { QueueKey } from "../db/runs/queue.ts";

export type QueuePick = QueueKey & { count: number };

export type FairQueue = {
  /** The queue has runs, as far as is known. */
  add(queue: QueueKey): void;
  /** Picks the queues of the next `count` starts. `laneCapacity` returns how many runs of a lane may start. */
  pickNext(count: number, laneCapacity: (lane: string) => number): QueuePick[];
  /**
   * Settles a pick with the runs that were claimed. A queue with fewer runs than picked is empty and is charged only
   * for those.
   */
  settle(asked: QueuePick[], taken: QueueKey[]): void;
  setWeights(weights: Map<string, number>): void;
  tenants(): string[];
  isEmpty(): boolean;
};

/** `virtualTime` is when the next start of the tenant is due. Its lanes are served in turn, the first one next. */
type TenantClock = { virtualTime: number; lanes: string[] };

const queueName = ({ tenant_id, lane }: QueueKey) => `${tenant_id}/${lane}`;

export function createFairQueue(): FairQueue {
  const tenants = new Map<string, TenantClock>();
  let weights = new Map<string, number>();
  let systemVirtualTime = 0;

  const virtualTimeStep = (tenantId: string) => 1 / (weights.get(tenantId) ?? 1);
  const findNextTenant = (capacityLeft: (lane: string) => number) => {
    let next: { id: string; tenant: TenantClock; lane: number } | undefined;
    for (const [id, tenant] of tenants) {
      if (next && tenant.virtualTime >= next.tenant.virtualTime) continue;
      const lane = tenant.lanes.findIndex((each) => capacityLeft(each) > 0);
      if (lane >= 0) next = { id, tenant, lane };
    }
    return next;
  };
  /** Removes tenants without queued runs whose virtual time the system has reached. */
  const dropIdleTenants = () => {
    for (const [id, tenant] of tenants)
      if (tenant.lanes.length === 0 && tenant.virtualTime <= systemVirtualTime) tenants.delete(id);
  };

  return {
    add({ tenant_id, lane }) {
      const known = tenants.get(tenant_id);
      if (!known) tenants.set(tenant_id, { virtualTime: systemVirtualTime, lanes: [lane] });
      else if (!known.lanes.includes(lane)) {
        if (known.lanes.length === 0) known.virtualTime = Math.max(known.virtualTime, systemVirtualTime);
        known.lanes.push(lane);
      }
    },
    pickNext(count, laneCapacity) {
      const picks = new Map<string, QueuePick>();
      const remaining = new Map<string, number>();
      const capacityLeft = (lane: string) => remaining.get(lane) ?? laneCapacity(lane);
      for (let picked = 0; picked < count; picked++) {
        const next = findNextTenant(capacityLeft);
        if (!next) break;
        const { id, tenant } = next;
        const [lane = ""] = tenant.lanes.splice(next.lane, 1);
        tenant.lanes.push(lane);
        remaining.set(lane, capacityLeft(lane) - 1);
        tenant.virtualTime += virtualTimeStep(id);
        const own = picks.get(queueName({ tenant_id: id, lane })) ?? { tenant_id: id, lane, count: 0 };
        own.count++;
        picks.set(queueName(own), own);
      }
      return [...picks.values()];
    },
    settle(asked, taken) {
      const given = Map.groupBy(taken, queueName);
      for (const each of asked) {
        const tenant = tenants.get(each.tenant_id)!;
        const missing = each.count - (given.get(queueName(each))?.length ?? 0);
        if (missing === 0) continue;
        tenant.virtualTime -= missing * virtualTimeStep(each.tenant_id);
        tenant.lanes = tenant.lanes.filter((lane) => lane !== each.lane);
      }
      // The system clock is the virtual time of the last start.
      for (const { tenant_id } of taken) {
        systemVirtualTime = Math.max(
          systemVirtualTime,
          tenants.get(tenant_id)!.virtualTime - virtualTimeStep(tenant_id),
        );
      }
      dropIdleTenants();
    },
    setWeights(changed) {
      weights = changed;
    },
    tenants: () => [...tenants].filter(([, { lanes }]) => lanes.length > 0).map(([id]) => id),
    isEmpty: () => [...tenants.values()].every(({ lanes }) => lanes.length === 0),
  };
}
