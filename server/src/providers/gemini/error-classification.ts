// Classifies errors of the Gemini API. Status 429 covers both per-minute and per-day quotas, so the details decide.
import { z } from "zod";
import type { Fault } from "../../faults/faults.ts";
import { modelUnavailable, providerBusy } from "../call-provider.ts";

const Detail = z.object({
  reason: z.string().nullish(),
  retryDelay: z.string().nullish(),
  violations: z.array(z.object({ quotaId: z.string().nullish(), quotaValue: z.string().nullish() })).nullish(),
});
const ErrorReply = z.object({
  error: z.object({
    status: z.string().nullish(),
    message: z.string().nullish(),
    details: z.array(Detail).nullish().catch(null),
  }),
});

const CREDITS_EXHAUSTED = /credits? (is|are|has been|have been) (depleted|exhausted|used up)|spend(ing)? (cap|limit)/i;

export function classifyGeminiError(status: number, body: string): Fault | undefined {
  const error = readError(body);
  if (!error) return undefined;
  const details = error.details ?? [];
  const cause = body.slice(0, 500);
  const seconds = Number.parseFloat(details.find(({ retryDelay }) => retryDelay)?.retryDelay ?? "") || undefined;
  if (status === 429) {
    const quotas = details.flatMap(({ violations }) => violations ?? []);
    // A daily quota, or a quota of zero: a short wait does not help.
    const isSpent = quotas.some(({ quotaId, quotaValue }) => /PerDay/.test(quotaId ?? "") || quotaValue === "0");
    return isSpent || CREDITS_EXHAUSTED.test(error.message ?? "")
      ? modelUnavailable(cause, status)
      : providerBusy(cause, seconds);
  }
  // With Google's error body it is a refusal; without it, the response can come from a proxy.
  if (status === 503 && error.status === "UNAVAILABLE") return providerBusy(cause, seconds);
  const isInvalidKey =
    details.some(({ reason }) => /^API_KEY_/.test(reason ?? "")) ||
    /API key (not valid|expired)/i.test(error.message ?? "");
  // FAILED_PRECONDITION: the account is not allowed in this region or has no billing.
  return status === 400 && (isInvalidKey || error.status === "FAILED_PRECONDITION")
    ? modelUnavailable(cause, status)
    : undefined;
}

function readError(body: string): z.output<typeof ErrorReply>["error"] | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return ErrorReply.parse(Array.isArray(parsed) ? parsed[0] : parsed).error;
  } catch {
    return undefined;
  }
}
