// Counting the tests of CI, from the results that vitest writes.
import { expect, it } from "vitest";
import { summarize, type TestResults } from "./ci-results.ts";

const results = (files: Record<string, string[]>, broken: string[] = []): TestResults => ({
  testResults: [...Object.entries(files), ...broken.map((name) => [name, []] as const)].map(([name, statuses]) => ({
    name,
    status: statuses.length > 0 && statuses.every((status) => status === "passed") ? "passed" : "failed",
    assertionResults: statuses.map((status, index) => ({ status, fullName: `test ${index}` })),
  })),
});

it("counts skipped tests and files that cannot be loaded as failed", () => {
  const first = results({ a: ["passed", "passed"], b: ["passed", "failed", "pending"] }, ["c"]);
  expect(summarize(first)).toEqual({ passed: 3, failed: 3, failedFiles: ["b", "c"] });
});

it("counts a file that ran again by its second run, also if it failed again", () => {
  const first = results({ a: ["passed"], b: ["passed", "failed"], c: ["failed", "failed"] });
  const again = results({ b: ["passed", "passed"], c: ["passed", "failed"] });
  expect(summarize(first, again)).toEqual({ passed: 4, failed: 1, failedFiles: ["c"] });
});
