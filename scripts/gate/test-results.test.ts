// Counting the tests of the gate, from the results that Vitest writes.
import { expect, it } from "vitest";
import { countTests, type TestResults } from "./test-results.ts";

const results = (files: Record<string, string[]>, broken: string[] = []): TestResults => ({
  testResults: [...Object.entries(files), ...broken.map((name) => [name, []] as const)].map(([name, statuses]) => ({
    name,
    status: statuses.length > 0 && statuses.every((status) => status === "passed") ? "passed" : "failed",
    assertionResults: statuses.map((status, index) => ({ status, fullName: `test ${index}` })),
  })),
});

it("counts skipped tests and files that cannot be loaded as failed, and names them", () => {
  const files = results({ a: ["passed", "passed"], b: ["passed", "failed", "pending"] }, ["c"]);
  expect(countTests(files)).toEqual({ passed: 3, failed: 3, failures: ["b › test 1", "b › test 2", "c"] });
});

it("counts a file whose hook failed although all its tests passed", () => {
  const files = results({ a: ["passed"] });
  files.testResults[0]!.status = "failed";
  expect(countTests(files)).toEqual({ passed: 1, failed: 1, failures: ["a"] });
});
