// What was used, what it cost, and what is left.
import { z } from "zod";

const dollars = (says: string) => z.number().describe(says);

const Figures = {
  runs: z.int().describe("Runs that were accepted; uploads are not counted"),
  completed: z.int(),
  failed: z.int(),
  canceled: z.int(),
  amount: dollars("What the completed ones cost"),
  unpriced: z.int().describe("Completed runs whose price is not known: they are not in the amount"),
};

const Spending = (says: string) =>
  z
    .object({ limit: dollars("US dollars"), used: dollars("What runs have cost, and what open ones hold") })
    .nullable()
    .describe(says);

export const Usage = z
  .object({
    currency: z.literal("USD"),
    from: z.iso.date().describe("First day, in UTC"),
    to: z.iso.date().describe("Last day, in UTC"),
    data: z.array(
      z.object({
        day: z.iso.date().optional().describe("The day on which the runs were accepted, in UTC"),
        key_id: z.uuid().nullable().optional().describe("The key that they were asked for with; null without one"),
        model: z.string().nullable().optional(),
        operation: z.string().optional(),
        ...Figures,
      }),
    ),
    total: z.object(Figures),
    budgets: z
      .array(
        z.object({
          of: z.enum(["tenant", "key", "token"]).describe("Whom the limit is for"),
          balance: z.number().nullable().describe("Remaining prepaid balance; null if the tenant is not prepaid"),
          day: Spending("Today's limit"),
          month: Spending("This month's limit"),
          total: Spending("The limit of an access token, for as long as it lives"),
        }),
      )
      .describe("The limits that count for this credential, as they stand now; empty where there are none"),
  })
  .meta({ id: "UsageReport" });
export type Usage = z.infer<typeof Usage>;

export const USAGE_DIMENSIONS = ["day", "key", "model", "operation"] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];
export type UsageFilter = { from?: string | undefined; to?: string | undefined; by: UsageDimension[] };

export const Balance = z
  .object({
    tenant_id: z.uuid(),
    currency: z.literal("USD"),
    balance: dollars("Available balance, without amounts reserved for open runs"),
    prepaid: z.boolean().describe("Whether runs are refused when the balance does not cover them"),
  })
  .meta({ id: "Balance" });
export type Balance = z.infer<typeof Balance>;
