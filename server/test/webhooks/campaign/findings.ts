// The words in which the campaigns of webhooks tell what they found.
import type { Finding } from "../../campaign.ts";

/** Holds where nothing is wrong; tells the first few things that are. */
export const none = (promise: string, wrong: string[], looked: number): Finding => ({
  promise,
  holds: wrong.length === 0 && looked > 0,
  saw: wrong.length === 0 ? `${looked} looked at` : `${wrong.length} of ${looked}: ${wrong.slice(0, 3).join(", ")}`,
});

export const atLeast = (promise: string, wanted: number, seen: number): Finding => ({
  promise,
  holds: seen >= wanted,
  saw: `${seen}, at least ${wanted}`,
});
