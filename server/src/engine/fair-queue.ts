// Start-time fair queueing. Every start advances the virtual clock of its tenant by 1 / weight; the tenant with the lowest
// clock is next. A tenant that returns after a pause starts at the system clock, so it neither loses nor saves up turns.
import type { QueueKey } from "../db/runs/queue.ts";

export type QueuePick = QueueKey & { count: number };

export type FairQueue = {
  /** Something waits here, as far as is known. */
  add(queue: QueueKey): void;
  /** Whose turn the next `count` starts are. `room` is how many of a lane may start. */
  pickNext(count: number, laneCapacity: (lane: string) => number): QueuePick[];
  /** What was really there: queues that gave less than they were asked for are empty, and pay only for what they gave. */
  settle(asked: QueuePick[], taken: QueueKey[]): void;
  setWeights(weights: Map<string, number>): void;
  tenants(): string[];
  isEmpty(): boolean;
};

/** `clock` is when its next start is due. Lanes are served in turn: the first of them is next. */
type TenantClock = { virtualTime: number; lanes: string[] };

const queueName = ({ tenant_id, lane }: QueueKey) => `${tenant_id}/${lane}`;

export function createFairQueue(): FairQueue {
  const tenants = new Map<string, TenantClock>();
  let weights = new Map<string, number>();
  let systemVirtualTime = 0;

  const virtualTimeStep = (tenantId: string) => 1 / (weights.get(tenantId) ?? 1);
  const findNextTenant = (roomLeft: (lane: string) => number) => {
    let next: { id: string; tenant: TenantClock; lane: number } | undefined;
    for (const [id, tenant] of tenants) {
      if (next && tenant.virtualTime >= next.tenant.virtualTime) continue;
      const lane = tenant.lanes.findIndex((each) => roomLeft(each) > 0);
      if (lane >= 0) next = { id, tenant, lane };
    }
    return next;
  };
  /** A tenant that has nothing is forgotten once the others have caught up with it. */
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
      const left = new Map<string, number>();
      const roomLeft = (lane: string) => left.get(lane) ?? laneCapacity(lane);
      for (let picked = 0; picked < count; picked++) {
        const next = findNextTenant(roomLeft);
        if (!next) break;
        const { id, tenant } = next;
        const [lane = ""] = tenant.lanes.splice(next.lane, 1);
        tenant.lanes.push(lane);
        left.set(lane, roomLeft(lane) - 1);
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
      // The common clock stands where the last start was due.
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
