// What operations on tenants, members, keys and tokens can do, on behalf of one caller.
import type {
  AccessLimits,
  ApiKey,
  ApiKeyPage,
  AuditPage,
  Identity,
  Member,
  MemberPage,
  NewApiKey,
  NewTenant,
  Tenant,
  TenantLimits,
  TenantPage,
  TenantProvenance,
  Token,
} from "./schemas/access.ts";
import type { TenantDeletion, TenantExport } from "./schemas/tenant-data.ts";

export type PageRequest = { limit: number; cursor?: string | undefined };

export type ApiKeyDraft = {
  name: string;
  scopes: string[];
  expires_at?: string | null | undefined;
  limits: AccessLimits;
  user_id?: string | undefined;
};
/** Keys made with a revoked key that stay valid: all of them, or those named. */
export type KeptKeysDraft = { keep_children?: boolean | undefined; keep_keys?: string[] | undefined };
type KeyStore = {
  create(draft: ApiKeyDraft): Promise<NewApiKey>;
  list(page: PageRequest): Promise<ApiKeyPage>;
  get(keyId: string): Promise<ApiKey>;
  update(keyId: string, change: Partial<Omit<ApiKeyDraft, "user_id">>): Promise<ApiKey>;
  rotate(keyId: string, overlapSeconds: number): Promise<NewApiKey>;
  revoke(keyId: string, kept?: KeptKeysDraft): Promise<ApiKey>;
  issueToken(request: TokenRequest): Promise<Token>;
};

export type TokenRequest = {
  expires_in: number;
  end_user: string;
  scopes: string[];
  origin?: string | undefined;
  max_spend?: number | undefined;
};

export type TenantDraft = { name: string; weight: number; limits: TenantLimits; retention_days: number | null };
export type MemberDraft = { user_id: string; name?: string | null | undefined; email?: string | null | undefined };
type TenantStore = {
  create(draft: TenantDraft, owner: MemberDraft): Promise<NewTenant>;
  list(page: PageRequest): Promise<TenantPage>;
  get(tenantId: string): Promise<Tenant>;
  update(
    tenantId: string,
    change: Partial<
      TenantDraft & { suspended: boolean; provenance: TenantProvenance | null; archive_after_days: number | null }
    >,
  ): Promise<Tenant>;
  /** `confirm` is the name of the tenant. Returns the deletion that was requested first. */
  delete(tenantId: string, confirm: string): Promise<TenantDeletion>;
  getDeletion(tenantId: string): Promise<TenantDeletion>;
  export(tenantId: string, reason: string): Promise<TenantExport>;
  auditLog(page: PageRequest): Promise<AuditPage>;
};

type MemberStore = {
  /** Who the caller is, and what its credential permits. */
  self(): Promise<Identity>;
  list(page: PageRequest): Promise<MemberPage>;
  add(member: MemberDraft & Pick<Member, "role">): Promise<Member>;
  update(userId: string, change: Partial<Pick<Member, "role" | "name" | "email">>): Promise<Member>;
  remove(userId: string): Promise<Member>;
};

export type AccessServices = {
  keys: KeyStore;
  tenants: TenantStore;
  members: MemberStore;
};
