import pg from "pg";
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import type { Database } from "./connect.ts";
import { gather } from "./gather.ts";

type Item = { key: string; value: number };
const clock = createManualClock();
const db = { clock } as unknown as Database;
beforeEach(() => expect(clock.timers()).toEqual([]));

/** Statements that end when the test says so. */
function setUp(refuse: (items: Item[]) => unknown = () => undefined) {
  const sent: number[][] = [];
  const ends: (() => void)[] = [];
  const call = gather<Item, number>({
    keyOf: ({ key }) => key,
    async execute(_db, items) {
      sent.push(items.map(({ value }) => value));
      await new Promise<void>((resolve) => ends.push(resolve));
      const refusal = refuse(items);
      if (refusal) throw refusal;
      return items.map(({ value }) => value * 10);
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { sent, ends, turn, add: (value: number, key = String(value)) => call(db, { key, value }) };
}

const refusedByPostgres = () =>
  Object.assign(new pg.DatabaseError("refused", 0, "error"), { severity: "ERROR", code: "23514" });

describe("gathered calls", () => {
  it("are sent at once if no statement of their kind is under way", async () => {
    const { sent, ends, turn, add } = setUp();
    const first = add(1);
    await turn();
    expect(sent).toEqual([[1]]);
    ends[0]!();
    expect(await first).toBe(10);
  });

  it("that arrive while a statement is under way go together with the next, in the order of their keys", async () => {
    const { sent, ends, turn, add } = setUp();
    const calls = [add(5)];
    await turn();
    calls.push(add(3), add(2), add(4));
    ends[0]!();
    await calls[0];
    await turn();
    expect(sent).toEqual([[5], [2, 3, 4]]);
    ends[1]!();
    expect(await Promise.all(calls)).toEqual([50, 30, 20, 40]);
  });

  it("of another group go with a later statement", async () => {
    const sent: string[][] = [];
    const call = gather<string, string>({
      keyOf: (item) => item,
      groupOf: (item) => item[0]!,
      async execute(_db, items) {
        sent.push(items);
        return items;
      },
    });
    const calls = ["a2", "b1", "a1"].map((item) => call(db, item));
    expect(await Promise.all(calls)).toEqual(["a2", "b1", "a1"]);
    expect(sent).toEqual([["a1", "a2"], ["b1"]]);
  });

  it("for the same row are in different statements", async () => {
    const { sent, ends, turn, add } = setUp();
    const calls = [add(1, "row"), add(2, "row"), add(3, "other")];
    await turn();
    expect(sent).toEqual([[3, 1]]);
    ends[0]!();
    await calls[0];
    await turn();
    ends[1]!();
    expect(await Promise.all(calls)).toEqual([10, 20, 30]);
    expect(sent).toEqual([[3, 1], [2]]);
  });

  it("do not wait for a slow statement", async () => {
    const { sent, ends, turn, add } = setUp();
    const slow = add(1);
    await turn();
    const next = add(2);
    await clock.advance(19);
    expect(sent).toEqual([[1]]);
    await clock.advance(1);
    expect(sent).toEqual([[1], [2]]);
    ends[1]!();
    expect(await next).toBe(20);
    ends[0]!();
    expect(await slow).toBe(10);
  });

  it("are sent alone if PostgreSQL refuses their statement, so that only the refused row fails", async () => {
    const { sent, ends, turn, add } = setUp((items) =>
      items.some(({ value }) => value === 2) ? refusedByPostgres() : undefined,
    );
    const calls = Promise.allSettled([add(1), add(2), add(3)]);
    await turn();
    ends[0]!();
    await turn();
    expect(sent).toHaveLength(4);
    for (const end of ends) end();
    expect((await calls).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("all fail if the connection is lost, because the statement may have been committed", async () => {
    const { sent, ends, turn, add } = setUp(() => new Error("Connection terminated unexpectedly"));
    const calls = Promise.allSettled([add(1), add(2)]);
    await turn();
    ends[0]!();
    expect((await calls).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(sent).toEqual([[1, 2]]);
  });
});
