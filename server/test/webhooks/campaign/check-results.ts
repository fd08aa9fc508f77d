// The words in which the campaigns of webhooks tell what they found.
import type { CheckResult } from "../../support/campaign.ts";

/** Holds where nothing is wrong; tells the first few things that are. */
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
