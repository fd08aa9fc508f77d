import { expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { Fault } from "../faults/faults.ts";
import { createExhaustedBudgetLog } from "./exhausted-budget-log.ts";

const caller = { tenant_id: "t", key_id: "k" };
const fault = (of: string, limit = "day") => new Fault("spend_limit_reached", { of, limit });

function start() {
  const clock = createManualClock();
  const entries: object[] = [];
  const write = (fields: object) => void entries.push(fields);
  const logExhausted = createExhaustedBudgetLog({ clock, log: { info: write, warn: write, error: write } });
  return { clock, entries, logExhausted };
}

it("logs each budget at most once a minute", () => {
  const { clock, entries, logExhausted } = start();
  for (const at of [0, 1, 59_999]) {
    clock.at = at;
    logExhausted(caller, fault("key"));
  }
  expect(entries).toEqual([{ ...caller, limit: "day", of: "key" }]);
  clock.at = 60_000;
  logExhausted(caller, fault("key"));
  expect(entries).toHaveLength(2);
});

it("treats the limits of a tenant as one budget for all its keys, and those of two keys as two", () => {
  const { entries, logExhausted } = start();
  for (const key_id of ["k", "l"]) logExhausted({ ...caller, key_id }, fault("tenant"));
  expect(entries).toHaveLength(1);
  for (const key_id of ["k", "l"]) logExhausted({ ...caller, key_id }, fault("key"));
  expect(entries).toHaveLength(3);
});

it("ignores errors that are not about a budget", () => {
  const { entries, logExhausted } = start();
  logExhausted(caller, new Fault("run_not_found"));
  logExhausted(caller, new Error("x"));
  expect(entries).toEqual([]);
});
