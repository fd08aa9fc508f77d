// Schemas of usage, cost and remaining budgets.
import { z } from "zod";

const dollars = (description: string) => z.number().describe(description);

const Figures = {
  runs: z.int().describe("Accepted runs, without uploads"),
  completed: z.int(),
  failed: z.int(),
  canceled: z.int(),
  amount: dollars("Cost of the completed runs in US dollars"),
  unpriced: z.int().describe("Completed runs with an unknown price. `amount` does not include them"),
};

const Spending = (description: string) =>
  z
    .object({
      limit: dollars("Limit in US dollars"),
      used: dollars("Cost of ended runs plus reserves of open runs, in US dollars"),
      held: dollars("Part of `used` that open runs have reserved, in US dollars"),
    })
    .nullable()
    .describe(description);

export const Usage = z
  .object({
    currency: z.literal("USD"),
    from: z.iso.date().describe("First day in UTC"),
    to: z.iso.date().describe("Last day in UTC"),
    data: z.array(
      z.object({
        day: z.iso.date().optional().describe("Day of acceptance in UTC"),
        key_id: z.uuid().nullable().optional().describe("Key that created the runs. null without a key"),
        model: z.string().nullable().optional(),
        operation: z.string().optional(),
        customer: z.string().optional().describe("Customer whom the runs counted for"),
        end_user: z.string().optional().describe("End user whom the runs were for"),
        tag: z.string().optional().describe("Tag that the runs were created with. A run with two tags counts for both"),
        ...Figures,
      }),
    ),
    total: z.object(Figures),
    budgets: z
      .array(
        z.object({
          of: z.enum(["tenant", "key", "token"]).describe("Owner of the limit"),
          key_id: z.uuid().nullable().describe("Key that has the limit. null for the tenant or a token"),
          name: z.string().nullable().describe("Name of the key. null for the tenant or a token"),
          balance: z
            .number()
            .nullable()
            .describe("Remaining prepaid balance in US dollars. null if the tenant is not prepaid"),
          hour: Spending("Limit of the current hour in UTC. null: no limit"),
          day: Spending("Limit of the current UTC day. null: no limit"),
          month: Spending("Limit of the current UTC month. null: no limit"),
          total: Spending("Limit of an access token over its lifetime. null: no limit"),
        }),
      )
      .describe(
        "Current limits of this credential, with `all_keys` of all keys of the tenant. Empty if there are none",
      ),
    storage: z
      .object({
        bytes: z.int().describe("Bytes of the files that the tenant stores now"),
        files: z.int().describe("Files that the tenant stores now"),
        bytes_limit: z.int().nullable().describe("Storage quota of the tenant in bytes. null: no limit"),
        files_limit: z.int().nullable().describe("Storage quota of the tenant in files. null: no limit"),
      })
      .describe("Stored files of the tenant and its quota, whatever the days of the report"),
  })
  .meta({ id: "UsageReport" });
export type Usage = z.infer<typeof Usage>;

export const TenantUsage = z
  .object({
    tenant_id: z.uuid(),
    currency: z.literal("USD"),
    from: z.iso.date().describe("First day in UTC"),
    to: z.iso.date().describe("Last day in UTC"),
    data: z.array(z.object({ day: z.iso.date().describe("Day of acceptance in UTC"), ...Figures })),
    total: z.object(Figures),
    open_runs: z.int().describe("Runs that are queued or processing now"),
    balance: z
      .number()
      .nullable()
      .describe("Remaining prepaid balance in US dollars. null if the tenant is not prepaid"),
    hour: Spending("Limit of the current hour in UTC. null: no limit"),
    day: Spending("Limit of the current UTC day. null: no limit"),
    month: Spending("Limit of the current UTC month. null: no limit"),
    storage: z.object({
      bytes: z.int().describe("Bytes of the files that the tenant stores now"),
      files: z.int().describe("Files that the tenant stores now"),
    }),
  })
  .meta({ id: "TenantUsage" });
export type TenantUsage = z.infer<typeof TenantUsage>;

/** What the cost of a run is attributed to. */
const ATTRIBUTIONS = ["customer", "end_user", "tag"] as const;
export const USAGE_DIMENSIONS = ["day", "key", "model", "operation", ...ATTRIBUTIONS] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];
export type UsageFilter = {
  from?: string | undefined;
  to?: string | undefined;
  by: UsageDimension[];
  all_keys?: boolean | undefined;
};

export const RunLedger = z
  .object({
    run_id: z.uuid().describe("ID of the run"),
    currency: z.literal("USD"),
    reserved: dollars("Reserved when the run was accepted, in US dollars"),
    charged: dollars("Charged when the run ended"),
    released: dollars("Returned from the reserve when the run ended"),
    wasted: dollars(
      "Possible charges of providers that the installation bears, because the caller got nothing for them",
    ),
    transfers: z
      .array(
        z.object({
          kind: z.enum(["reserve", "settle", "release", "waste"]),
          from_account: z.string(),
          to_account: z.string(),
          amount: dollars("Amount in US dollars"),
          created_at: z.iso.datetime(),
        }),
      )
      .describe("Transfers of the run in the ledger, in order. An amount of zero has no transfer"),
    attempts: z
      .array(
        z.object({
          job: z.int().describe("Index of the job in the run, from 0"),
          try: z.int().describe("Attempt number within the job, from 1"),
          provider: z.string(),
          state: z.string().describe("State of the attempt"),
          price: z.number().nullable().describe("Expected charge of the provider in US dollars. null: unknown"),
        }),
      )
      .describe("Provider attempts with their prices"),
  })
  .meta({ id: "RunLedger" });
export type RunLedger = z.infer<typeof RunLedger>;

export const Balance = z
  .object({
    tenant_id: z.uuid(),
    currency: z.literal("USD"),
    balance: dollars("Available balance in US dollars, without reserves of open runs"),
    prepaid: z.boolean().describe("Whether Gesso refuses runs that the balance does not cover"),
  })
  .meta({ id: "Balance" });
export type Balance = z.infer<typeof Balance>;
