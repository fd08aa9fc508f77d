// Distinguishes usage errors (exit code 2, one sentence) from failures (exit code 1).

const NAME = "UsageError";

export function usageError(sentence: string): Error {
  return Object.assign(new Error(sentence), { name: NAME });
}

export function isUsageError(error: unknown): boolean {
  return error instanceof Error && error.name === NAME;
}
