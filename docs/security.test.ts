// The page about security names a test for every promise: each of them is there.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(`${ROOT}/docs/guide/security.md`, "utf8");
/** The rows of the tables that have promises in them. */
const rows = [...page.matchAll(/^\| Promise .*\n\|-.*\n((?:\|.*\n)+)/gm)].flatMap(([, body]) =>
  body!.trim().split("\n"),
);

it("has a test for every promise", () => {
  expect(rows.length).toBeGreaterThan(20);
  for (const row of rows) {
    const tests = [...row.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, path]) => path!);
    expect([row, tests.length > 0]).toEqual([row, true]);
    for (const path of tests) expect([path, existsSync(`${ROOT}/${path}`)]).toEqual([path, true]);
  }
});
