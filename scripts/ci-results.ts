// `node scripts/ci-results.ts FIRST.json [AGAIN.json]`: counts the tests of a vitest run, of which some files ran again
// alone. Prints the passed and failed tests, then each file that failed. A skipped test, or a file that cannot be
// loaded, counts as failed.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

export type TestResults = {
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
};
type FileCount = { passed: number; failed: number };

function countFiles({ testResults }: TestResults): Map<string, FileCount> {
  const files = new Map<string, FileCount>();
  for (const { name, status, assertionResults } of testResults) {
    const passed = assertionResults.filter((test) => test.status === "passed").length;
    const notPassed = assertionResults.length - passed;
    const failed = notPassed === 0 && status === "failed" ? 1 : notPassed;
    const before = files.get(name) ?? { passed: 0, failed: 0 };
    files.set(name, { passed: before.passed + passed, failed: before.failed + failed });
  }
  return files;
}

/** Files that ran again count by their second run. */
export function summarize(first: TestResults, again?: TestResults): FileCount & { failedFiles: string[] } {
  const files = new Map([...countFiles(first), ...(again ? countFiles(again) : [])]);
  const sum = (field: keyof FileCount) => [...files.values()].reduce((total, count) => total + count[field], 0);
  const failedFiles = [...files].filter(([, { failed }]) => failed > 0).map(([name]) => name);
  return { passed: sum("passed"), failed: sum("failed"), failedFiles };
}

if (import.meta.main) {
  const [first, again] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")) as TestResults);
  const { passed, failed, failedFiles } = summarize(first!, again);
  console.log(`${passed} ${failed}`);
  for (const name of failedFiles) console.log(relative(process.cwd(), name));
}
