import { z } from "zod";
import { alertField, Budget, BudgetOwner, spendingFields } from "../../contract/schemas/budgets.ts";
import { putAttributedBudget } from "../../db/money/attributed-budgets.ts";
import { attributedHolderId } from "../../db/money/attributed-holders.ts";
import { Fault } from "../../faults/faults.ts";
import { renderAttributedBudget, requireOwner } from "../../money/attributed-budgets.ts";
import { toMicrodollars } from "../../runs/offers/cost.ts";
import { defineQuery } from "../define-query.ts";

export const createBudget = defineQuery({
  name: "budgets.create",
  summary: "Limit what the runs of a customer, an end user or a tag may cost, or replace the limits that it has",
  http: { method: "POST", path: "/budgets", bodies: ["json"], status: 201 },
  changes: "money",
  input: z.object({
    of: BudgetOwner.describe("Whose limit it is: one customer, end_user or tag, or every one with *"),
    ...spendingFields,
    alert_at: alertField(),
  }),
  output: Budget,
  example: { of: { end_user: "*" }, spend_per_day: 0.5, alert_at: [0.8, 1] },
  // Repeating the request has no further effect, so it needs no idempotency key.
  async handle({ of, alert_at, ...spending }, { caller, database }) {
    const { kind, value } = requireOwner(of);
    const { spend_per_hour, spend_per_day, spend_per_month } = spending;
    if (spend_per_hour === null && spend_per_day === null && spend_per_month === null)
      throw new Fault("validation_error", {
        errors: [{ path: "", code: "required", message: "Set spend_per_hour, spend_per_day or spend_per_month." }],
      });
    const row = await putAttributedBudget(database, caller, {
      ...{ kind, value, holder_id: attributedHolderId(kind, value) },
      hour_limit: toMicrodollars(spend_per_hour),
      day_limit: toMicrodollars(spend_per_day),
      month_limit: toMicrodollars(spend_per_month),
      alert_at: [...new Set(alert_at)].sort((one, other) => one - other),
    });
    return renderAttributedBudget(row);
  },
});
