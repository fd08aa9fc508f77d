// Our key of an attempt, read from its callback URL: some providers show the URL in their list of jobs, and no key.
// The signature in the URL is not verified, so the key is for comparisons only.
const CALLBACK_PATH = /\/callbacks\/[^/]+\/([0-9a-f-]{36})\/(\d+)\/(\d+)\//;

export function keyOfCallbackUrl(url: string | null | undefined): string | undefined {
  const [, runId, requestIndex, attemptNumber] = CALLBACK_PATH.exec(url ?? "") ?? [];
  return runId && `${runId}.${requestIndex}.${attemptNumber}`;
}
