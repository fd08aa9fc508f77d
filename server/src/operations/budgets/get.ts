import { z } from "zod";
import { Budget } from "../../contract/schemas/budgets.ts";
import { findAttributedBudget } from "../../db/money/attributed-budgets.ts";
import { Fault } from "../../faults/faults.ts";
import { renderAttributedBudget } from "../../money/attributed-budgets.ts";
import { defineQuery } from "../define-query.ts";

export const getBudget = defineQuery({
  name: "budgets.get",
  summary: "Get a spending limit of a customer, an end user or a tag, and what is used of it",
  http: { method: "GET", path: "/budgets/:budget_id" },
  input: z.object({ budget_id: z.uuid().describe("ID of the limit") }),
  output: Budget,
  example: { budget_id: "8c2b7f1e-5a0d-8e3f-9b6c-1d2e3f405162" },
  async handle({ budget_id }, { caller, database }) {
    const row = await findAttributedBudget(database, caller.tenant_id, budget_id);
    if (!row) throw new Fault("route_not_found");
    return renderAttributedBudget(row);
  },
});
