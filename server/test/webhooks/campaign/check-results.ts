// Helpers for the results of the webhook campaigns.
import type { CheckResult } from "../../support/campaign.ts";

/** Passes if there are no problems; otherwise reports the first few. */
export const expectNone = (invariant: string, wrong: string[], checked: number): CheckResult => ({
  invariant,
  passed: wrong.length === 0 && checked > 0,
  observed:
    wrong.length === 0 ? `${checked} checked` : `${wrong.length} of ${checked}: ${wrong.slice(0, 3).join(", ")}`,
});

export const expectAtLeast = (invariant: string, wanted: number, seen: number): CheckResult => ({
  invariant,
  passed: seen >= wanted,
  observed: `${seen}, at least ${wanted}`,
});
