import { z } from "zod";
import { Reconciliation } from "../../contract/schemas/reconciliation.ts";
import { compareInstallation } from "../../runs/upkeep/compare/compare-installation.ts";
import type { ComparisonDependencies } from "../../runs/upkeep/compare/comparison-scope.ts";
import { defineQuery } from "../define-query.ts";

export const reconcileInstallation = defineQuery({
  name: "admin.reconcile",
  summary: "Compare database, storage, ledger and the job lists of providers, after a restore (operator)",
  http: { method: "GET", path: "/admin/reconciliation" },
  input: z.object({
    since: z.iso
      .datetime()
      .optional()
      .describe("Start of the period in UTC: the time that the database was restored to. Default: 24 hours ago"),
    limit: z.int().min(1).max(1000).default(100).describe("Findings in the response, 1 to 1,000. Default: 100"),
    after: z.uuid().optional().describe("Only runs after this one: the last `run_id` of the previous response"),
    max_seconds: z
      .int()
      .min(1)
      .max(300)
      .default(30)
      .describe("Time after which comparisons stop and are `incomplete`, 1 to 300 s. Default: 30"),
  }),
  output: Reconciliation,
  example: { since: "2026-01-31T03:00:00Z" },
  handle: (query, _request, services: ComparisonDependencies) => compareInstallation(services, query),
});
