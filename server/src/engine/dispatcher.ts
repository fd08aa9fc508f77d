// Hands queued runs to the engine. Tenants are spread over shards, and each shard is served by one process at a time;
// who may start first within a shard is decided here and nowhere else.
import { countHolders, holdLeases } from "../db/leases.ts";
import { type Held, putBack, takeQueued } from "../db/open-runs.ts";
import type { House } from "../runs/house.ts";
import type { Ingress } from "./ingress.ts";
import { type Loop, startLoop } from "./loop.ts";

const BATCH = 200;
const LOOK_MS = 250;
const LEASE_SECONDS = 10;
const RENEW_MS = 3000;
/** Handed over at the same time; more would only queue inside the engine, where nobody can reorder them. */
const AT_ONCE = 400;

export async function startDispatcher(house: House, ingress: Ingress, holder: string): Promise<Loop> {
  let shards: number[] = [];
  let inHand = 0;

  const renew = startLoop(
    "dispatcher.lease",
    RENEW_MS,
    async () => {
      const before = shards.length;
      shards = await holdShare(house, holder, shards);
      if (shards.length > before) dispatch.wake();
      return false;
    },
    house.log,
  );

  const handOver = async (batch: Held[]) => {
    const results = await Promise.allSettled(batch.map((held) => ingress.start(held)));
    inHand -= batch.length;
    const failed = batch.filter((_, index) => results[index]!.status === "rejected");
    if (failed.length > 0) {
      house.log.warn({ runs: failed.length }, "the engine did not take runs; they stay queued");
      await putBack(house.db, failed);
      return;
    }
    dispatch.wake();
  };

  const dispatch = startLoop(
    "dispatcher",
    LOOK_MS,
    async () => {
      if (shards.length === 0 || inHand >= AT_ONCE) return false;
      const batch = await takeQueued(house.db, shards, BATCH);
      inHand += batch.length;
      if (batch.length > 0) house.moment("taken_from_queue");
      if (batch.length > 0) void handOver(batch).catch((thrown) => house.log.warn({ err: thrown }, "hand-over failed"));
      return batch.length === BATCH;
    },
    house.log,
  );

  const stopListening = await house.db.listen("gesso_queued", () => dispatch.wake());
  return {
    wake: dispatch.wake,
    async stop() {
      await stopListening();
      await Promise.all([renew.stop(), dispatch.stop()]);
    },
  };
}

/** Keeps a fair share of the shards between all that serve them. */
async function holdShare(house: House, holder: string, held: number[]): Promise<number[]> {
  await holdLeases(house.db, holder, [`member/${holder}`], LEASE_SECONDS);
  const members = Math.max(1, await countHolders(house.db, "member/"));
  const share = Math.ceil(house.shards / members);
  const all = Array.from({ length: house.shards }, (_, shard) => shard);
  // Those held already come first, so that shares only move when members come or go.
  const wanted = [...held.slice(0, share), ...all.filter((shard) => !held.includes(shard))];
  const mine: number[] = [];
  for (const shard of wanted) {
    if (mine.length >= share) break;
    const [name] = await holdLeases(house.db, holder, [`dispatch/${shard}`], LEASE_SECONDS);
    if (name) mine.push(shard);
  }
  return mine;
}
