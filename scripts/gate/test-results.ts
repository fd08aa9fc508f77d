// Counts the tests of a Vitest run and names those that failed. A skipped test, or a file that cannot be loaded,
// counts as failed.
import { relative } from "node:path";

export type TestResults = {
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
};
export type TestCounts = { passed: number; failed: number; failures: string[] };

export function countTests({ testResults }: TestResults): TestCounts {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ status, fullName }) => ({ isPassed: status === "passed", title: titleOf(name, fullName) })),
  );
  const failures = tests.filter(({ isPassed }) => !isPassed).map(({ title }) => title);
  // A file that fails although none of its tests did: it cannot be loaded, or a hook failed.
  const brokenFiles = testResults
    .filter(({ status, assertionResults }) => status === "failed" && assertionResults.every(isPassedTest))
    .map(({ name }) => relative(process.cwd(), name));
  return {
    passed: tests.length - failures.length,
    failed: failures.length + brokenFiles.length,
    failures: [...failures, ...brokenFiles],
  };
}

const isPassedTest = ({ status }: { status: string }) => status === "passed";
const titleOf = (file: string, title: string) => `${relative(process.cwd(), file)} › ${title}`;
