import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { USAGE_DIMENSIONS, Usage, type UsageDimension } from "../../kit/schemas/usage.ts";

const word = `(${USAGE_DIMENSIONS.join("|")})`;

export const getUsage = defineOperation({
  name: "usage.get",
  summary: "What your runs cost, by day, key, model and operation; as a table with `Accept: text/csv`",
  http: { method: "GET", path: "/usage" },
  input: z.object({
    from: z.iso.date().optional().describe("First day, in UTC; 29 days before the last where nothing is said"),
    to: z.iso.date().optional().describe("Last day, in UTC; today where nothing is said"),
    by: z
      .string()
      .regex(new RegExp(`^${word}(,${word})*$`), {
        error: `One or more of ${USAGE_DIMENSIONS.join(", ")}, with commas.`,
      })
      .default("day")
      .describe(`What makes a row of its own: ${USAGE_DIMENSIONS.join(", ")}, or several with commas`),
  }),
  output: Usage,
  example: { by: "day,model" },
  respond: ({ from, to, by }, ask) => ask.usage({ from, to, by: [...new Set(by.split(",") as UsageDimension[])] }),
  toCsvRows: (usage) => (usage as Usage).data,
});
