import { z } from "zod";
import { paginate } from "../../access/pagination.ts";
import { endUser } from "../../contract/fields.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { BudgetPage } from "../../contract/schemas/budgets.ts";
import { listAttributedBudgets } from "../../db/money/attributed-budgets.ts";
import { findOwner, renderAttributedBudget } from "../../money/attributed-budgets.ts";
import { defineQuery } from "../define-query.ts";

export const listBudgetsOfTenant = defineQuery({
  name: "budgets.list",
  summary: "List the spending limits of customers, end users and tags that were set, or that of one of them",
  http: { method: "GET", path: "/budgets" },
  input: z.object({
    ...paginationFields,
    customer: endUser("Only the limit of this customer, also if it comes from *").optional(),
    end_user: endUser("Only the limit of this end user, also if it comes from *").optional(),
    tag: endUser("Only the limit of this tag").optional(),
  }),
  output: BudgetPage,
  example: { limit: 20 },
  handle({ customer, end_user, tag, ...page }, { cursors, database, caller }) {
    const owner = findOwner({ customer, end_user, tag }, "");
    return paginate(cursors, page, {
      scope: ["budgets", caller.tenant_id, owner?.kind ?? null, owner?.value ?? null],
      read: (before, limit) => listAttributedBudgets(database, caller.tenant_id, { before, owner }, limit),
      cursorId: ({ holder_id }) => holder_id,
      render: renderAttributedBudget,
    });
  },
});
