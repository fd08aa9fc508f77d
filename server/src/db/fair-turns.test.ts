import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createFairTurns } from "./fair-turns.ts";

test("tenants that wait get connections in turn, each in the order of its statements", async () => {
  const turns = createFairTurns(1, 1000);
  await turns.begin("busy");
  const order: string[] = [];
  const statements = ["busy 1", "busy 2", "busy 3", "other 1", "third 1", "other 2"].map(async (name) => {
    await turns.begin(name.split(" ")[0]!);
    order.push(name);
    await pause(1);
    turns.end();
  });
  turns.end();
  await Promise.all(statements);
  expect(order).toEqual(["busy 1", "other 1", "third 1", "busy 2", "other 2", "busy 3"]);
});

test("at most as many statements as connections run at a time, and none is lost", async () => {
  const turns = createFairTurns(4, 5000);
  let [active, most, done] = [0, 0, 0];
  await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      await turns.begin(`tenant ${n % 3}`);
      most = Math.max(most, ++active);
      await pause(n % 2);
      active--;
      done++;
      turns.end();
    }),
  );
  expect([most, done, turns.waitMs()]).toEqual([4, 200, 0]);
});

test("the wait of a tenant is that of its own statements", async () => {
  const turns = createFairTurns(1, 1000);
  await turns.begin("busy");
  const waiting = turns.begin("busy");
  await pause(5);
  expect(turns.waitMs()).toBeGreaterThan(3);
  expect(turns.waitMs(["busy", "quiet"])).toBeGreaterThan(3);
  expect(turns.waitMs(["quiet"])).toBe(0);
  turns.end();
  await waiting;
});

test("a statement that waits too long is given up, and its place goes to the next", async () => {
  const turns = createFairTurns(1, 30);
  await turns.begin("busy");
  await expect(turns.begin("late")).rejects.toThrow("timeout exceeded");
  const next = turns.begin("next");
  await pause(5);
  expect(turns.waitMs()).toBeGreaterThan(3);
  turns.end();
  await next;
  turns.end();
  await turns.begin("free");
});
