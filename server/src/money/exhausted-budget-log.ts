// Logs that a budget is exhausted, at most once per minute and budget, so that a client which keeps trying does not
// fill the log.
import type { Caller } from "../db/access/caller.ts";
import { Fault } from "../faults/faults.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../runtime/clock.ts";

const LOG_INTERVAL_MS = 60_000;
const MAX_REMEMBERED_BUDGETS = 10_000;
const BUDGET_FAULTS: string[] = ["insufficient_credits", "spend_limit_reached"];

/** Logs the fault if it is about a budget; does nothing for any other error. */
export type ExhaustedBudgetLog = (caller: Pick<Caller, "tenant_id" | "key_id">, thrown: unknown) => void;

export function createExhaustedBudgetLog({ clock, log }: { clock: Clock; log: Log }): ExhaustedBudgetLog {
  const loggedAt = new Map<string, number>();
  return ({ tenant_id, key_id }, thrown) => {
    if (!(thrown instanceof Fault) || !BUDGET_FAULTS.includes(thrown.code)) return;
    const { limit, of } = thrown.details;
    const budget = [tenant_id, of === "tenant" ? "" : key_id, of, limit].join(" ");
    if (clock.monotonic() - (loggedAt.get(budget) ?? Number.NEGATIVE_INFINITY) < LOG_INTERVAL_MS) return;
    if (loggedAt.size >= MAX_REMEMBERED_BUDGETS) loggedAt.clear();
    loggedAt.set(budget, clock.monotonic());
    log.warn({ tenant_id, key_id, limit, of }, "budget exhausted; runs are refused");
  };
}
