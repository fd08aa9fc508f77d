// Schemas of the reconciler: what the database, the storage, the ledger and the job lists of providers disagree about.
import { z } from "zod";
import { RUN_STATUSES } from "./run.ts";

const FINDINGS = [
  ...(["file_without_run", "file_without_asset", "asset_without_file"] as const),
  ...(["job_without_run", "job_without_attempt", "job_twice"] as const),
  ...(["run_unpaid", "run_overcharged"] as const),
] as const;

const optionalTime = (description: string) => z.iso.datetime().nullable().describe(description);

const Finding = z.object({
  run_id: z.uuid().describe("ID of the run"),
  tenant_id: z.uuid().nullable().describe("Tenant of the run. null: only a provider knows the run"),
  finding: z
    .enum(FINDINGS)
    .describe(
      "`file_without_run`, `job_without_run`: the database does not know the run. `file_without_asset`: it knows the " +
        "run, and not the file. `asset_without_file`: the storage does not have the file. `job_without_attempt`: the " +
        "provider has a job of the run that the database does not know. `job_twice`: the provider has a second job of " +
        "one attempt. `run_unpaid`, `run_overcharged`: the ledger has less, or more, than the run cost",
    ),
  run_status: z.enum(RUN_STATUSES).nullable().describe("null: the database does not know the run"),
  file: z
    .object({
      storage_key: z.string().describe("Key of the object in the storage"),
      size_bytes: z.int().min(0),
      stored_at: optionalTime("Time of the object. null: there is no object"),
    })
    .nullable(),
  job: z
    .object({
      provider: z.string(),
      ticket: z.record(z.string(), z.string()).describe("The provider's ID of the job"),
      idempotency_key: z.string().describe("Key that Gesso sent to the provider"),
      created_at: optionalTime("Time when the provider accepted the job. null: it does not say"),
    })
    .nullable(),
  cost: z
    .object({
      expected: z.number().describe("Cost of the run in US dollars"),
      charged: z.number().describe("What the ledger has, in US dollars"),
    })
    .nullable(),
});
export type Finding = z.infer<typeof Finding>;

const Comparison = z.object({
  of: z.enum(["files", "assets", "jobs", "charges"]).describe("What was compared with the database"),
  provider: z.string().nullable().describe("Provider of the jobs. null for everything else"),
  state: z
    .enum(["complete", "incomplete", "failed", "unsupported"])
    .describe(
      "`incomplete`: the time was not enough. `failed`: the storage or the provider did not respond. `unsupported`: " +
        "the provider has no list of jobs, so ask its console",
    ),
  compared: z.int().describe("Number of objects, assets, jobs or runs that were compared"),
});
export type Comparison = z.infer<typeof Comparison>;

export const Reconciliation = z
  .object({
    since: z.iso.datetime().describe("Start of the period"),
    data: z.array(Finding).describe("Findings by run ID. All findings of a run are in one response"),
    has_more: z.boolean().describe("Pass the last `run_id` as `after` to read on"),
    comparisons: z.array(Comparison).describe("What was compared. No finding means nothing if one is not complete"),
  })
  .meta({ id: "Reconciliation" });
export type Reconciliation = z.infer<typeof Reconciliation>;
