// Helpers for the results of the webhook campaigns.
import type { CheckResult } from "../../support/campaign.ts";

/** Passes if there are no problems; otherwise reports the first few. */
export const expectNone = (promise: string, wrong: string[], looked: number): CheckResult => ({
  promise,
  holds: wrong.length === 0 && looked > 0,
  saw: wrong.length === 0 ? `${looked} looked at` : `${wrong.length} of ${looked}: ${wrong.slice(0, 3).join(", ")}`,
});

export const expectAtLeast = (promise: string, wanted: number, seen: number): CheckResult => ({
  promise,
  holds: seen >= wanted,
  saw: `${seen}, at least ${wanted}`,
});
