// Finds archived runs of any tenant, for operators. A record contains the prompt, so each reading leaves an audit entry
// in the log of every tenant whose runs it returns.
import type { RequestContext } from "../access/request-context.ts";
import { insertOperatorEntry } from "../db/admin/operator-entries.ts";
import type { ArchiveQuery } from "../kit/admin-services.ts";
import type { ArchivedRunList } from "../kit/schemas/archive.ts";
import { queryArchive } from "../runs/query-archive.ts";
import type { Services } from "../runs/services.ts";

export type ArchiveQueryDependencies = Pick<Services, "assets">;

export async function queryArchiveForOperator(
  { assets }: ArchiveQueryDependencies,
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  { run_id, after, ...query }: ArchiveQuery,
): Promise<ArchivedRunList> {
  const ids = { run_id: run_id?.toLowerCase(), after: after?.toLowerCase() };
  const data = await queryArchive({ database, assets }, { ...query, ...ids });
  const subject = run_id ?? query.day ?? "archive";
  for (const tenant_id of new Set(data.map((each) => each.tenant_id)))
    await insertOperatorEntry(database, caller, { tenant_id, action: "admin.queryArchive", subject });
  return { data };
}
