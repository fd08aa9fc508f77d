import { expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { createParseTurns } from "./parse-turns.ts";

/** Parses bodies that take a given time; returns when each began. */
function openTurns() {
  const clock = createManualClock();
  const turns = createParseTurns(clock);
  const beganAt: [tenantId: string, at: number][] = [];
  return {
    turns,
    beganAt,
    parse: async (tenantId: string, ms: number) => {
      turns.recordActivity(tenantId);
      const end = await turns.begin(tenantId);
      beganAt.push([tenantId, clock.at]);
      // Parsing blocks the event loop, so no timer fires meanwhile.
      clock.at += ms;
      end();
      end();
    },
    advance: clock.advance,
    recordActivity: (tenantId: string) => turns.recordActivity(tenantId),
  };
}

it("lets a tenant that is alone parse its bodies one after the other without a pause", async () => {
  const { parse, beganAt } = openTurns();
  await Promise.all([parse("a", 100), parse("a", 100), parse("a", 100)]);
  expect(beganAt).toEqual([
    ["a", 0],
    ["a", 100],
    ["a", 200],
  ]);
});

it("gives a tenant at most a fifth of the time while another tenant is active, and delays no other tenant", async () => {
  const { parse, advance, beganAt, recordActivity } = openTurns();
  recordActivity("b");
  const attack = Promise.all([parse("a", 100), parse("a", 50), parse("a", 100)]);
  await advance(50);
  await parse("b", 10);
  await advance(340);
  expect(beganAt.map(([tenantId]) => tenantId)).toEqual(["a", "b"]);
  expect(beganAt[1]![1]).toBeLessThanOrEqual(151);
  await advance(10);
  recordActivity("b");
  await advance(1000);
  await attack;
  const [first, second, third] = beganAt.filter(([tenantId]) => tenantId === "a").map(([, at]) => at);
  expect([first! <= 1, second! >= 500, third! - second! >= 250]).toEqual([true, true, true]);
});

it("forgets that another tenant was active after a second", async () => {
  const { parse, advance, beganAt, recordActivity } = openTurns();
  recordActivity("b");
  await advance(1001);
  await Promise.all([parse("a", 10), parse("a", 10)]);
  expect(beganAt.map(([, at]) => at)).toEqual([1001, 1011]);
});

it("continues after a turn that was given up while it waited", async () => {
  const { turns } = openTurns();
  const [first, second, third] = [turns.begin("a"), turns.begin("a"), turns.begin("a")];
  (await first)();
  (await second)();
  expect(await third).toBeTypeOf("function");
});
