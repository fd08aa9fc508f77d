import { expect, it } from "vitest";
import { addMoney, formatMoney } from "./money.ts";

it("shows at least cents and at most millionths of a dollar", () => {
  expect(formatMoney(0.1)).toBe("$0.10");
  expect(formatMoney(0.025)).toBe("$0.025");
  expect(formatMoney(0.000001)).toBe("$0.000001");
  expect(formatMoney(1234.5)).toBe("$1,234.50");
});

it("adds amounts exactly", () => {
  expect(addMoney([0.1, 0.2])).toBe(0.3);
  expect(addMoney([])).toBe(0);
});
