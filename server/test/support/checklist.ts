// Prints one line for each check, with what was observed, and counts those that failed.

export type Observation = { passed: boolean; observed: string };
export type Check = (title: string, work: () => Promise<Observation>) => Promise<void>;

export function createChecklist() {
  let passed = 0;
  let failed = 0;
  const check: Check = async (title, work) => {
    const began = Date.now();
    const result = await work().catch((thrown) => ({
      passed: false,
      observed: String(thrown?.cause?.cause ?? thrown?.stack ?? thrown),
    }));
    if (result.passed) passed++;
    else failed++;
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    console.log(`${result.passed ? "ok    " : "FAILED"}  ${title} (${result.observed}; ${seconds} s)`);
  };
  return { check, counts: () => ({ passed, failed }) };
}
