// Tells "you asked for something that cannot be" (exit code 2, one sentence) from "something broke" (exit code 1).

const NAME = "Refusal";

export function usageError(sentence: string): Error {
  return Object.assign(new Error(sentence), { name: NAME });
}

export function isUsageError(error: unknown): boolean {
  return error instanceof Error && error.name === NAME;
}
