import { expect, it } from "vitest";
import { budgetRows } from "./budget-rows.ts";

const budget = { of: "tenant" as const, key_id: null, name: null, balance: null, hour: null, day: null, total: null };

it("splits a limit into used, held and left, to the micro-dollar", () => {
  const month = { limit: 250, used: 182.770001, held: 0.37 };
  expect(budgetRows([{ ...budget, month }])).toMatchObject([
    { limit: 250_000_000, used: 182_400_001, held: 370_000, left: 67_229_999, state: "ok" },
  ]);
});

it("warns at nine tenths, and says when a limit is reached", () => {
  const states = [8.9, 9, 10].map((used) => budgetRows([{ ...budget, month: { limit: 10, used, held: 0 } }])[0]!.state);
  expect(states).toEqual(["ok", "warn", "bad"]);
});

it("has a row for each period with a limit and none for the others", () => {
  const spending = { limit: 1, used: 0, held: 0 };
  expect(
    budgetRows([{ ...budget, hour: spending, day: spending, month: spending }]).map(({ period }) => period),
  ).toEqual(["month", "day", "hour"]);
  expect(budgetRows([{ ...budget, month: null, balance: 5 }])).toEqual([]);
});
