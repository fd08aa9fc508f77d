import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { createFairTurns } from "./fair-turns.ts";

test("tenants that wait get connections in turn, each in the order of its statements", async () => {
  const clock = createManualClock();
  const turns = createFairTurns(1, 1000, clock);
  await turns.begin("busy");
  const order: string[] = [];
  const statements = ["busy 1", "busy 2", "busy 3", "other 1", "third 1", "other 2"].map(async (name) => {
    await turns.begin(name.split(" ")[0]!);
    order.push(name);
    await turnOfEventLoop();
    turns.end();
  });
  turns.end();
  await Promise.all(statements);
  expect(order).toEqual(["busy 1", "other 1", "third 1", "busy 2", "other 2", "busy 3"]);
  expect(clock.timers()).toEqual([]);
});

test("at most as many statements as connections run at a time, and none is lost", async () => {
  const clock = createManualClock();
  const turns = createFairTurns(4, 5000, clock);
  let [active, most, done] = [0, 0, 0];
  await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      await turns.begin(`tenant ${n % 3}`);
      most = Math.max(most, ++active);
      if (n % 2 === 0) await turnOfEventLoop();
      active--;
      done++;
      turns.end();
    }),
  );
  expect([most, done, turns.waitMs()]).toEqual([4, 200, 0]);
  expect(clock.timers()).toEqual([]);
});

test("the wait of a tenant is that of its own statements", async () => {
  const clock = createManualClock();
  const turns = createFairTurns(1, 1000, clock);
  await turns.begin("busy");
  const waiting = turns.begin("busy");
  await clock.advance(5);
  expect(turns.waitMs()).toBe(5);
  expect(turns.waitMs(["busy", "quiet"])).toBe(5);
  expect(turns.waitMs(["quiet"])).toBe(0);
  turns.end();
  await waiting;
  expect(turns.waitMs()).toBe(0);
});

test("a statement that waits too long is given up, and its place goes to the next", async () => {
  const clock = createManualClock();
  const turns = createFairTurns(1, 30, clock);
  await turns.begin("busy");
  let failure: Error | undefined;
  const late = turns.begin("late").catch((thrown) => {
    failure = thrown;
  });
  await clock.advance(29);
  expect(failure).toBeUndefined();
  await clock.advance(1);
  await late;
  expect(failure?.message).toContain("timeout exceeded");
  const next = turns.begin("next");
  await clock.advance(5);
  expect(turns.waitMs()).toBe(5);
  turns.end();
  await next;
  turns.end();
  await turns.begin("free");
  expect(clock.timers()).toEqual([]);
});
