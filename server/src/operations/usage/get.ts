import { z } from "zod";
import { USAGE_DIMENSIONS, Usage, type UsageDimension } from "../../contract/schemas/usage.ts";
import { reportUsage, type UsageDependencies } from "../../money/usage.ts";
import { defineQuery } from "../define-query.ts";

const dimension = `(${USAGE_DIMENSIONS.join("|")})`;

export const getUsage = defineQuery({
  name: "usage.get",
  summary:
    "Get usage and cost by day, key, model, operation, customer, end user or tag. `Accept: text/csv` returns a table",
  http: { method: "GET", path: "/usage" },
  input: z.object({
    from: z.iso.date().optional().describe("First day in UTC. Default: 29 days before the last day"),
    to: z.iso.date().optional().describe("Last day in UTC. Default: today"),
    by: z
      .string()
      .regex(new RegExp(`^${dimension}(,${dimension})*$`), {
        error: `Must be one or more of ${USAGE_DIMENSIONS.join(", ")}, separated by commas.`,
      })
      .default("day")
      .describe(
        `Dimensions of the rows: ${USAGE_DIMENSIONS.join(", ")}, or several separated by commas. One of customer, ` +
          "end_user and tag goes together with day and model, and has only runs that name one. Default: day",
      ),
    all_keys: z
      .boolean()
      .optional()
      .describe("With true, `budgets` has the limits of all keys of the tenant. Requires the scope keys:read"),
  }),
  output: Usage,
  example: { by: "day,model" },
  handle: ({ by, ...filter }, request, services: UsageDependencies) =>
    reportUsage(services, request, { ...filter, by: [...new Set(by.split(",") as UsageDimension[])] }),
  toCsvRows: (usage) => (usage as Usage).data,
});
