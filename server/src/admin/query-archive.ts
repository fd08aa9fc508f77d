// Finds archived runs of any tenant, for operators. A record contains the prompt, so each reading leaves an audit entry
// with its reason in the log of every tenant whose runs it returns, and in the operator's own.
import type { RequestContext } from "../access/request-context.ts";
import { insertDisclosure } from "../db/admin/disclosures.ts";
import type { ArchiveQuery } from "../kit/admin-services.ts";
import type { ArchivedRunList } from "../kit/schemas/archive.ts";
import { queryArchive } from "../runs/query-archive.ts";
import type { Services } from "../runs/services.ts";

export type ArchiveQueryDependencies = Pick<Services, "assets">;

export async function queryArchiveForOperator(
  { assets }: ArchiveQueryDependencies,
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  { run_id, after, reason, ...query }: ArchiveQuery,
): Promise<ArchivedRunList> {
  const ids = { run_id: run_id?.toLowerCase(), after: after?.toLowerCase() };
  const data = await queryArchive({ database, assets }, { ...query, ...ids });
  const subject = run_id ?? query.day ?? "archive";
  const tenantIds = [...new Set(data.map((each) => each.tenant_id))];
  await insertDisclosure(database, caller, { action: "admin.queryArchive", subject, reason, tenantIds });
  return { data };
}
