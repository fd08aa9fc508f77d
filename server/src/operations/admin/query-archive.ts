import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { disclosureReason } from "../../kit/schemas/access.ts";
import { ArchivedRunList } from "../../kit/schemas/archive.ts";

export const queryArchivedRuns = defineOperation({
  name: "admin.queryArchive",
  summary: "Find archived runs with their content by ID, tenant or day, oldest first (operator with content:read)",
  http: { method: "GET", path: "/admin/archive" },
  returnsContent: true,
  input: z.object({
    reason: disclosureReason(),
    run_id: z.uuid().optional().describe("Only this run"),
    tenant_id: z.uuid().optional().describe("Only runs of this tenant"),
    day: z.iso.date().optional().describe("Only runs that were accepted on this day (UTC)"),
    limit: z.int().min(1).max(100).default(20).describe("Items in the response, 1 to 100. Default: 20"),
    after: z.uuid().optional().describe("Only runs after this one: the last `run_id` of the previous response"),
  }),
  output: ArchivedRunList,
  example: { reason: "Ticket 4711", tenant_id: "00000000-0000-7000-8000-000000000001", day: "2026-01-31" },
  respond: (query, services) => services.admin.queryArchive(query),
});
