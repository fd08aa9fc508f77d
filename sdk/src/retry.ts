// Decides whether and when a request is retried. Retries are safe: every creating request carries an idempotency key.
const INITIAL_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;
const MAX_RETRY_AFTER_MS = 60_000;

/** Exponential backoff from 0.5 s to 8 s with up to 25 % jitter, so that callers do not retry in step. */
export const backoffMs = (retry: number, random: () => number = Math.random): number =>
  Math.min(INITIAL_BACKOFF_MS * 2 ** retry, MAX_BACKOFF_MS) * (1 - random() * 0.25);

/** The wait that the server requests, in milliseconds; undefined if it is missing or longer than 60 s. */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  const seconds = headers.get("retry-after") ?? "";
  const plain = /^\s*[\d.]+\s*$/.test(seconds) ? Number(seconds) * 1000 : Date.parse(seconds) - Date.now();
  const asked = Number.isFinite(exact) ? exact : plain;
  return Number.isFinite(asked) && asked >= 0 && asked <= MAX_RETRY_AFTER_MS ? asked : undefined;
}

type RetryContext = {
  status?: number | undefined;
  code?: string | undefined;
  headers?: Headers | undefined;
  runId?: string | undefined;
};

export function isRetryable({ status = 0, code, headers, runId }: RetryContext): boolean {
  const asked = headers?.get("x-should-retry");
  if (asked === "true" || asked === "false") return asked === "true";
  if (code === "idempotency_in_progress" || code === "sync_timeout") return true;
  // The run exists and has ended: a retry with the same idempotency key would return the same result.
  if (runId !== undefined && status !== 429) return false;
  return status === 408 || status === 429 || status >= 500;
}

/** Resolves after `ms`, or early when the signal aborts; the caller checks the signal. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
