// Schemas of spending limits of customers, end users and tags.
import { z } from "zod";
import { endUser } from "../fields.ts";
import { pageSchema } from "../pagination.ts";

const dollars = (description: string) =>
  z.number().min(0).max(1_000_000_000).nullable().describe(`${description}, in US dollars. null: no limit`);

export const spendingFields = {
  spend_per_hour: dollars("Maximum cost of the runs of an hour in UTC").default(null),
  spend_per_day: dollars("Maximum cost of the runs of a UTC day").default(null),
  spend_per_month: dollars("Maximum cost of the runs of a UTC month").default(null),
};

export const alertField = () =>
  z
    .array(z.number().min(0.01).max(1).describe("A share of the limit, 0.01 to 1"))
    .max(10)
    .default([])
    .describe(
      "Shares of the limits, such as 0.8 and 1. When so much of one is used, Gesso sends the event budget.warning, and " +
        "budget.reached for 1 or when it refuses a run; once per share and period. Default: none",
    );

/** Whose limit it is. */
export const BudgetOwner = z
  .strictObject({
    customer: endUser("A customer. *: every customer without a limit of its own").optional(),
    end_user: endUser("An end user. *: every end user without a limit of its own").optional(),
    tag: endUser("A tag").optional(),
  })
  .meta({ id: "BudgetOwner" });

const Spent = (description: string) =>
  z
    .object({
      limit: z.number().describe("Limit in US dollars"),
      used: z.number().describe("Cost of ended runs plus reserves of open runs, in US dollars"),
    })
    .nullable()
    .describe(description);

export const Budget = z
  .object({
    id: z.uuid().describe("ID of the limit"),
    of: BudgetOwner.describe("Whose limit it is"),
    template_id: z.uuid().nullable().describe("The limit with `*` that this one comes from. null: it was set itself"),
    hour: Spent("The current hour in UTC. null: no limit"),
    day: Spent("The current UTC day. null: no limit"),
    month: Spent("The current UTC month. null: no limit"),
    alert_at: z.array(z.number()).describe("Shares of the limits at which Gesso sends an event"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "Budget" });
export type Budget = z.infer<typeof Budget>;

export const BudgetPage = pageSchema(Budget, "BudgetPage");
export type BudgetPage = z.infer<typeof BudgetPage>;
