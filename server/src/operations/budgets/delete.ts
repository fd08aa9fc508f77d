import { z } from "zod";
import { Budget } from "../../contract/schemas/budgets.ts";
import { deleteAttributedBudget } from "../../db/money/attributed-budgets.ts";
import { Fault } from "../../faults/faults.ts";
import { renderAttributedBudget } from "../../money/attributed-budgets.ts";
import { defineQuery } from "../define-query.ts";

export const deleteBudget = defineQuery({
  name: "budgets.delete",
  summary: "Delete a spending limit. One with * is deleted for all that have no limit of their own. Returns the limit",
  http: { method: "DELETE", path: "/budgets/:budget_id" },
  changes: "money",
  input: z.object({ budget_id: z.uuid().describe("ID of the limit") }),
  output: Budget,
  example: { budget_id: "8c2b7f1e-5a0d-8e3f-9b6c-1d2e3f405162" },
  async handle({ budget_id }, { caller, database }) {
    const row = await deleteAttributedBudget(database, caller, budget_id);
    if (!row) throw new Fault("route_not_found");
    return renderAttributedBudget(row);
  },
});
