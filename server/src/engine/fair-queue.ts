// Whose turn it is. Start-time fair queueing: every run that is started moves its tenant's clock on by one part of its
// weight, and the tenant whose clock is furthest behind is next. One who comes after a pause begins at the common clock:
// nobody is punished for having had the place alone, and nobody saves up turns.
import type { Queue } from "../db/queue.ts";

export type Asked = Queue & { count: number };

export type FairQueue = {
  /** Something waits here, as far as is known. */
  add(queue: Queue): void;
  /** Whose turn the next `count` starts are. `room` is how many of a lane may start. */
  pick(count: number, room: (lane: string) => number): Asked[];
  /** What was really there: queues that gave less than they were asked for are empty, and pay only for what they gave. */
  settle(asked: Asked[], taken: Queue[]): void;
  setWeights(weights: Map<string, number>): void;
  tenants(): string[];
  isEmpty(): boolean;
};

/** `clock` is when its next start is due. Lanes are served in turn: the first of them is next. */
type Tenant = { clock: number; lanes: string[] };

const nameOf = ({ tenant_id, lane }: Queue) => `${tenant_id}/${lane}`;

export function createFairQueue(): FairQueue {
  const tenants = new Map<string, Tenant>();
  let weights = new Map<string, number>();
  let now = 0;

  const stepOf = (tenantId: string) => 1 / (weights.get(tenantId) ?? 1);
  const nextOf = (roomLeft: (lane: string) => number) => {
    let next: { id: string; tenant: Tenant; lane: number } | undefined;
    for (const [id, tenant] of tenants) {
      if (next && tenant.clock >= next.tenant.clock) continue;
      const lane = tenant.lanes.findIndex((each) => roomLeft(each) > 0);
      if (lane >= 0) next = { id, tenant, lane };
    }
    return next;
  };
  /** A tenant that has nothing is forgotten once the others have caught up with it. */
  const forgetPast = () => {
    for (const [id, tenant] of tenants) if (tenant.lanes.length === 0 && tenant.clock <= now) tenants.delete(id);
  };

  return {
    add({ tenant_id, lane }) {
      const known = tenants.get(tenant_id);
      if (!known) tenants.set(tenant_id, { clock: now, lanes: [lane] });
      else if (!known.lanes.includes(lane)) {
        if (known.lanes.length === 0) known.clock = Math.max(known.clock, now);
        known.lanes.push(lane);
      }
    },
    pick(count, room) {
      const asked = new Map<string, Asked>();
      const left = new Map<string, number>();
      const roomLeft = (lane: string) => left.get(lane) ?? room(lane);
      for (let picked = 0; picked < count; picked++) {
        const next = nextOf(roomLeft);
        if (!next) break;
        const { id, tenant } = next;
        const [lane = ""] = tenant.lanes.splice(next.lane, 1);
        tenant.lanes.push(lane);
        left.set(lane, roomLeft(lane) - 1);
        tenant.clock += stepOf(id);
        const own = asked.get(nameOf({ tenant_id: id, lane })) ?? { tenant_id: id, lane, count: 0 };
        own.count++;
        asked.set(nameOf(own), own);
      }
      return [...asked.values()];
    },
    settle(asked, taken) {
      const given = Map.groupBy(taken, nameOf);
      for (const each of asked) {
        const tenant = tenants.get(each.tenant_id)!;
        const missing = each.count - (given.get(nameOf(each))?.length ?? 0);
        if (missing === 0) continue;
        tenant.clock -= missing * stepOf(each.tenant_id);
        tenant.lanes = tenant.lanes.filter((lane) => lane !== each.lane);
      }
      // The common clock stands where the last start was due.
      for (const { tenant_id } of taken) {
        now = Math.max(now, tenants.get(tenant_id)!.clock - stepOf(tenant_id));
      }
      forgetPast();
    },
    setWeights(changed) {
      weights = changed;
    },
    tenants: () => [...tenants].filter(([, { lanes }]) => lanes.length > 0).map(([id]) => id),
    isEmpty: () => [...tenants.values()].every(({ lanes }) => lanes.length === 0),
  };
}
