// The planted faults fit the code as it is: a patch that no longer applies would plant nothing.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readPlantedFaults } from "./planted-faults.ts";
import { REPOSITORY } from "./repository-copy.ts";

test("there are at least 18 planted faults", () => {
  expect(readPlantedFaults().length).toBeGreaterThanOrEqual(18);
});

test.each(readPlantedFaults())("the planted fault $name applies to the code", ({ file }) => {
  const check = ["apply", "--check", "--unidiff-zero", file];
  expect(() => execFileSync("git", check, { cwd: REPOSITORY, stdio: "pipe" })).not.toThrow();
});

// Git inserts at the line that a hunk names, whatever is there.
test.each(readPlantedFaults())("the planted fault $name replaces lines, and does not only insert", ({ file }) => {
  expect(readFileSync(file, "utf8")).not.toMatch(/^@@ -\d+,0 /m);
});
