// The services for operations on tenants, members, keys, tokens and the audit log, on behalf of one caller.
import { listAuditEntries } from "../db/access/audit-log.ts";
import type { Database } from "../db/connect.ts";
import type { AccessServices, PageRequest } from "../kit/access-services.ts";
import type { Clock, Ids } from "../kit/clock.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { createKeyStore } from "./keys.ts";
import { createMemberStore } from "./members.ts";
import { paginate } from "./pagination.ts";
import type { RequestContext } from "./request-context.ts";
import { createTenantDeletions } from "./tenant-deletion.ts";
import { createTenantExports } from "./tenant-export.ts";
import { createTenantStore } from "./tenants.ts";

export type AccessDependencies = {
  /** Not scoped to a tenant; only the tenant store uses it. */
  systemDatabase: Database;
  accessTokens: AccessTokens;
  ids: Ids;
  clock: Pick<Clock, "now">;
  publicUrl: string;
  /** Makes changed keys, members and tenants effective at once in this process. */
  invalidateCredentials(): void;
};

export const createAccessServices = (dependencies: AccessDependencies, context: RequestContext): AccessServices => ({
  keys: {
    ...createKeyStore(dependencies, context),
    issueToken: (request) => dependencies.accessTokens.issue(context.caller, request, dependencies.ids.next()),
  },
  tenants: {
    ...createTenantStore(dependencies, context),
    ...createTenantDeletions(dependencies, context),
    ...createTenantExports(dependencies, context),
    auditLog: (page) => listAuditLog(context, page),
  },
  members: createMemberStore(dependencies, context),
});

const listAuditLog = (context: RequestContext, page: PageRequest) =>
  paginate(context.cursors, page, {
    scope: ["audit", context.caller.tenant_id],
    read: (before, limit) => {
      const beforeEntry = before === undefined ? undefined : Number(before);
      return listAuditEntries(context.database, context.caller.tenant_id, beforeEntry, limit);
    },
    cursorId: (row) => String(row.entry),
    render: ({ at, digest, ...row }) => ({ ...row, at: at.toISOString(), digest: digest.toString("hex") }),
  });
