// The services for operations on tenants, members, keys, tokens and the audit log, on behalf of one caller.
import { insertAuditEntry, listAuditEntries } from "../db/access/audit-log.ts";
import type { Database } from "../db/connect.ts";
import type { AccessServices, PageRequest, TokenRequest } from "../kit/access-services.ts";
import type { Clock, Ids } from "../kit/clock.ts";
import type { Token } from "../kit/schemas/access.ts";
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
  /** The first characters of new keys. */
  cell: string;
  clock: Pick<Clock, "now">;
  publicUrl: string;
  /** Whether the installation has a certificate that signs outputs. */
  canSign: boolean;
  /** Makes changed keys, members and tenants effective at once in this process. */
  invalidateCredentials(): void;
};

export const createAccessServices = (dependencies: AccessDependencies, context: RequestContext): AccessServices => ({
  keys: {
    ...createKeyStore(dependencies, context),
    issueToken: (request) => issueAuditedToken(dependencies, context, request),
  },
  tenants: {
    ...createTenantStore(dependencies, context),
    ...createTenantDeletions(dependencies, context),
    ...createTenantExports(dependencies, context),
    auditLog: (page) => listAuditLog(context, page),
  },
  members: createMemberStore(dependencies, context),
});

/** The token is returned only after its entry is stored. The entry identifies the token and does not contain it. */
async function issueAuditedToken(
  { accessTokens, ids }: AccessDependencies,
  { caller, database }: RequestContext,
  request: TokenRequest,
): Promise<Token> {
  const tokenId = ids.next();
  const token = await accessTokens.issue(caller, request, tokenId);
  const { end_user, origin = null, max_spend = null } = request;
  const details = { scopes: token.scope.split(" "), expires_in: token.expires_in, end_user, origin, max_spend };
  await insertAuditEntry(database, caller, { action: "tokens.create", subject: tokenId, details });
  return token;
}

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
