// Spending limits of customers, end users and tags, as operations take and return them.
import type { Budget } from "../contract/schemas/budgets.ts";
import type { AttributedBudgetRow } from "../db/money/attributed-budgets.ts";
import { ATTRIBUTION_KINDS, type AttributionKind, EVERY_VALUE } from "../db/money/attributed-holders.ts";
import { Fault } from "../faults/faults.ts";

type NamedOwner = { customer?: string | undefined; end_user?: string | undefined; tag?: string | undefined };

/** Undefined if none is named. Throws if several are. */
export function findOwner(of: NamedOwner, path: string): { kind: AttributionKind; value: string } | undefined {
  const named = ATTRIBUTION_KINDS.filter((kind) => of[kind] !== undefined);
  if (named.length > 1) throw ownerFault(path, "Name one of customer, end_user and tag.");
  return named.length === 1 ? { kind: named[0]!, value: of[named[0]!]! } : undefined;
}

export function requireOwner(of: NamedOwner): { kind: AttributionKind; value: string } {
  const owner = findOwner(of, "/of");
  if (!owner) throw ownerFault("/of", "Name a customer, an end_user or a tag.");
  if (owner.kind === "tag" && owner.value === EVERY_VALUE)
    throw ownerFault("/of/tag", "A limit for every tag is not possible. Name the tag.");
  return owner;
}

const ownerFault = (path: string, message: string) =>
  new Fault("validation_error", { errors: [{ path, code: "invalid_combination", message }] });

const MICRODOLLARS = 1e6;

export function renderAttributedBudget(row: AttributedBudgetRow): Budget {
  const spent = (limit: number | null, used: number) =>
    limit === null ? null : { limit: limit / MICRODOLLARS, used: used / MICRODOLLARS };
  return {
    id: row.holder_id,
    of: { [row.of_kind]: row.of_value },
    template_id: row.template_id,
    hour: spent(row.hour_limit, row.hour_used),
    day: spent(row.day_limit, row.day_used),
    month: spent(row.month_limit, row.month_used),
    alert_at: row.alert_at,
    created_at: row.created_at.toISOString(),
  };
}
