// Whose turn it is, without a database: queues of any length are handed in.
import { describe, expect, it } from "vitest";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";

const UNLIMITED = () => Number.POSITIVE_INFINITY;

/** Serves `rounds` rounds of `count` from backlogs, which it shortens; answers how many each queue got. */
function serve(queue: FairQueue, backlog: Map<string, number>, { rounds = 1, count = 10, room = UNLIMITED } = {}) {
  const got = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    const asked = queue.pickNext(count, room);
    const taken = asked.flatMap(({ tenant_id, lane, count: wanted }) => {
      const name = `${tenant_id}/${lane}`;
      const have = Math.min(wanted, backlog.get(name) ?? 0);
      backlog.set(name, (backlog.get(name) ?? 0) - have);
      got.set(name, (got.get(name) ?? 0) + have);
      return Array.from({ length: have }, () => ({ tenant_id, lane }));
    });
    queue.settle(asked, taken);
  }
  return got;
}

const add = (queue: FairQueue, ...names: string[]) => {
  for (const name of names) {
    const [tenant_id = "", lane = ""] = name.split("/");
    queue.add({ tenant_id, lane });
  }
};

describe("the fair queue", () => {
  it("gives two tenants with long queues equal shares", () => {
    const queue = createFairQueue();
    add(queue, "a/x", "b/x");
    const got = serve(
      queue,
      new Map([
        ["a/x", 9999],
        ["b/x", 9999],
      ]),
      { rounds: 7, count: 11 },
    );
    expect(Math.abs(got.get("a/x")! - got.get("b/x")!)).toBeLessThanOrEqual(1);
  });

  it("shares by weight, whatever the size of a round", () => {
    for (const count of [1, 3, 10, 64]) {
      const queue = createFairQueue();
      queue.setWeights(new Map([["a", 3]]));
      add(queue, "a/x", "b/x");
      const rounds = Math.ceil(4000 / count);
      const got = serve(
        queue,
        new Map([
          ["a/x", 99_999],
          ["b/x", 99_999],
        ]),
        { rounds, count },
      );
      expect(got.get("a/x")! / got.get("b/x")!).toBeCloseTo(3, 1);
    }
  });

  it("gives a new tenant the next turn, however long another queue is", () => {
    const queue = createFairQueue();
    add(queue, "a/x");
    const backlog = new Map([["a/x", 20_000]]);
    serve(queue, backlog, { rounds: 100, count: 50 });
    add(queue, "b/x");
    backlog.set("b/x", 1);
    expect(queue.pickNext(1, UNLIMITED)).toEqual([{ tenant_id: "b", lane: "x", count: 1 }]);
  });

  it("does not let a tenant save up turns while its queue is empty", () => {
    const queue = createFairQueue();
    add(queue, "a/x", "b/x");
    const backlog = new Map([
      ["a/x", 9999],
      ["b/x", 1],
    ]);
    serve(queue, backlog, { rounds: 100, count: 10 });
    add(queue, "b/x");
    backlog.set("b/x", 9999);
    const got = serve(queue, backlog, { rounds: 10, count: 10 });
    expect(got.get("b/x")).toBeGreaterThanOrEqual(49);
    expect(got.get("b/x")).toBeLessThanOrEqual(51);
  });

  it("gives no advantage for leaving and returning", () => {
    const queue = createFairQueue();
    const backlog = new Map([
      ["a/x", 99_999],
      ["b/x", 0],
    ]);
    let ofA = 0;
    let ofB = 0;
    add(queue, "a/x");
    for (let round = 0; round < 1000; round++) {
      backlog.set("b/x", 1);
      add(queue, "b/x");
      const got = serve(queue, backlog, { rounds: 1, count: 1 });
      ofA += got.get("a/x") ?? 0;
      ofB += got.get("b/x") ?? 0;
    }
    expect(Math.abs(ofA - ofB)).toBeLessThanOrEqual(1);
  });

  it("skips a lane without capacity, and serves the tenant's other lanes", () => {
    const queue = createFairQueue();
    add(queue, "a/shut", "a/open", "b/shut");
    const backlog = new Map([
      ["a/shut", 99],
      ["a/open", 99],
      ["b/shut", 99],
    ]);
    const got = serve(queue, backlog, {
      rounds: 1,
      count: 20,
      room: (lane: string) => (lane === "shut" ? 2 : 99),
    } as never);
    expect(got.get("a/shut")! + got.get("b/shut")!).toBe(2);
    expect(got.get("a/open")).toBe(18);
  });

  it("requests nothing if nothing may start", () => {
    const queue = createFairQueue();
    add(queue, "a/x");
    expect(queue.pickNext(0, UNLIMITED)).toEqual([]);
    expect(queue.pickNext(10, () => 0)).toEqual([]);
    expect(queue.isEmpty()).toBe(false);
  });

  it("starves no tenant if there are more tenants than slots, even beside heavy ones", () => {
    const queue = createFairQueue();
    const heavy = Array.from({ length: 100 }, (_, n) => `heavy${n}`);
    queue.setWeights(new Map(heavy.map((id) => [id, 3])));
    add(queue, ...heavy.map((id) => `${id}/x`), "light/x");
    const backlog = new Map([...heavy, "light"].map((id) => [`${id}/x`, 9999]));
    const got = serve(queue, backlog, { rounds: 3010, count: 1 });
    expect(got.get("light/x")).toBeGreaterThanOrEqual(9);
  });
});
