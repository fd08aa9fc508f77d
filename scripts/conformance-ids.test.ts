import { expect, it } from "vitest";
import { statementIdsIn } from "./conformance-ids.ts";

it("reads IDs from the titles of tests and the first column of their tables, and from nowhere else", () => {
  const text = [
    '// [OUT-001] is shown in it("[OUT-002] elsewhere", () => {});',
    'const other = [["OUT-003", 1]];',
    'it("[ONE-001] [ONE-002] a test", () => {',
    '  expect(body).toEqual("[OUT-004]"); // see it("[OUT-005] an old title", () => {})',
    "});",
    "it.each<[string, string]>([",
    '  ["ONE-003", "OUT-006"], // ["OUT-007", ""]',
    '  /* ["OUT-008", ""], */',
    '  ["ONE-004", "x"],',
    '])("[%s] of a table: %s", (id, value) => {});',
    'it.each(["OUT-009"])("[ONE-005] with %s", () => {});',
    'describe("[OUT-010] a suite", () => {});',
    ["it", 'skip("[OUT-011] is skipped", () => {});'].join("."),
    ["it", 'todo("[OUT-012] is to do", () => {});'].join("."),
  ].join("\n");
  expect(statementIdsIn(text)).toEqual(["ONE-001", "ONE-002", "ONE-003", "ONE-004", "ONE-005"]);
});
