import { expect, it } from "vitest";
import { testTitlesIn } from "./test-titles.ts";

it("finds titles of tests and suites, also of tables and template literals, and none that is commented out", () => {
  const text = [
    'describe("a suite", () => {',
    '  it("a test", async () => {});',
    "  it(",
    '    "on a line of its own",',
    "    async () => {},",
    "  );",
    '  it.each(Object.entries(TABLE))("of a table: %s", (name) => {});',
    "  test.each([",
    "    [1],",
    '  ])("of a list", (n) => {});',
    "  it(`has $" + "{COUNT} entries`, () => {});",
    "  it('with \"quotes\"', () => {});",
    '  // it("commented out", () => {});',
    '  expect(it).toBe("a value");',
  ].join("\n");
  expect([...testTitlesIn(text)]).toEqual([
    ...["a suite", "a test", "on a line of its own", "of a table: %s", "of a list", "has … entries", 'with "quotes"'],
  ]);
});
