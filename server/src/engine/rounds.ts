// The rounds of the one dispatcher that leads: look who waits, pick whose turn it is as far as there is capacity, take
// their runs, hand them over.
import type { Held } from "../db/open-runs.ts";
import { listQueues, notePace, putBack, type Queue, readWeights, takeQueued } from "../db/queue.ts";
import type { House } from "../runs/house.ts";
import { createCapacity } from "./capacity.ts";
import { createFairQueue } from "./fair-queue.ts";
import type { Ingress } from "./ingress.ts";

const BATCH = 200;
/** Who waits is told. It is also looked up, because words may be late or lost; but looking never takes much of the time. */
const LOOK_MS = 75;
const LOOK_SHARE = 20;

export type Rounds = {
  /** Somebody was told to wait: `tenant/lane`, or anything else where it is not known who. */
  hear(word: string): void;
  /** `full`: something waits and may not start yet. */
  go(): Promise<"nothing" | "full" | "more">;
  refresh(workers: number): Promise<void>;
};

export function createRounds(house: House, ingress: Ingress): Rounds {
  const queue = createFairQueue();
  const capacity = createCapacity(house);
  const started = new Map<string, number>();
  let heardMeanwhile: Queue[] = [];
  let lookAt = Number.NEGATIVE_INFINITY;
  let toldAt = performance.now();

  const look = async () => {
    const beginning = performance.now();
    for (const each of await listQueues(house.db)) queue.add(each);
    const end = performance.now();
    lookAt = end + Math.max(LOOK_MS, Math.min(1000, (end - beginning) * LOOK_SHARE));
  };

  const take = async (asked: ReturnType<typeof queue.pick>) => {
    heardMeanwhile = [];
    // Nothing may be charged for what could not be asked.
    const taken = await takeQueued(house.db, asked).catch((thrown) => {
      queue.settle(asked, []);
      lookAt = Number.NEGATIVE_INFINITY;
      throw thrown;
    });
    queue.settle(asked, taken);
    // What was put into a queue after it was found empty is still there.
    for (const each of heardMeanwhile) queue.add(each);
    capacity.use(taken);
    for (const { tenant_id } of taken) started.set(tenant_id, (started.get(tenant_id) ?? 0) + 1);
    return taken;
  };

  const handOver = async (batch: Held[]) => {
    const results = await Promise.allSettled(batch.map((held) => ingress.start(held)));
    const failed = batch.filter((_, index) => results[index]!.status === "rejected");
    if (failed.length === 0) return;
    house.log.warn({ runs: failed.length }, "the engine did not take runs; they stay queued");
    await putBack(house.db, failed);
  };

  return {
    hear(word) {
      const [tenant_id = "", lane] = word.split("/");
      if (lane === undefined) lookAt = Number.NEGATIVE_INFINITY;
      else {
        queue.add({ tenant_id, lane });
        heardMeanwhile.push({ tenant_id, lane });
      }
    },
    async go() {
      // Both at once: a round that takes long is a round that somebody waits for.
      const [free] = await Promise.all([capacity.free(), performance.now() > lookAt ? look() : undefined]);
      if (queue.isEmpty()) return "nothing";
      const asked = queue.pick(Math.min(BATCH, free), capacity.roomOf);
      if (asked.length === 0) return "full";
      const taken = await take(asked);
      if (taken.length > 0) {
        house.moment("taken_from_queue");
        void handOver(taken).catch((thrown) => house.log.warn({ err: thrown }, "hand-over failed"));
      }
      return "more";
    },
    /** Also tells how fast each queue moves, for those who ask when their turn will come. */
    async refresh(workers) {
      capacity.setWorkers(workers);
      queue.setWeights(await readWeights(house.db));
      const seconds = (performance.now() - toldAt) / 1000;
      const paces = new Map(queue.tenants().map((id) => [id, (started.get(id) ?? 0) / seconds]));
      toldAt = performance.now();
      started.clear();
      if (paces.size > 0) await notePace(house.db, paces);
    },
  };
}
