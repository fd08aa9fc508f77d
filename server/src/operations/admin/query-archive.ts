import { z } from "zod";
import { disclosureReason } from "../../contract/schemas/access.ts";
import { insertDisclosure } from "../../db/admin/disclosures.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import { queryArchive } from "../../runs/upkeep/query-archive.ts";
import { defineQuery } from "../define-query.ts";

const ArchivedRun = z.object({
  run_id: z.uuid().describe("ID of the run"),
  tenant_id: z.uuid().describe("Tenant of the run"),
  file: z.string().describe("Key of the file in the storage"),
  record: z
    .record(z.string(), z.unknown())
    .describe("The line of the file: the run with its requests, attempts, transfers and assets"),
});

const ArchivedRunList = z.object({ data: z.array(ArchivedRun) }).meta({ id: "ArchivedRunList" });

export const queryArchivedRuns = defineQuery({
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
  // A record contains the prompt, so each reading leaves an audit entry with its reason in the log of every tenant
  // whose runs it returns, and in the operator's own.
  async handle({ run_id, after, reason, ...query }, { database, caller }, { assets }: { assets: AssetStore }) {
    const ids = { run_id: run_id?.toLowerCase(), after: after?.toLowerCase() };
    const data = await queryArchive({ database, assets }, { ...query, ...ids });
    const subject = run_id ?? query.day ?? "archive";
    const tenantIds = [...new Set(data.map((each) => each.tenant_id))];
    await insertDisclosure(database, caller, { action: "admin.queryArchive", subject, reason, tenantIds });
    return { data };
  },
});
