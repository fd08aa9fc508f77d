// What operations on tenants, people, keys and tokens may ask of the house, always in the name of one caller.
import type {
  AuditPage,
  Key,
  KeyPage,
  Limits,
  Member,
  MemberPage,
  NewKey,
  NewTenant,
  Tenant,
  TenantPage,
  Token,
} from "./shapes-access.ts";

export type Page = { limit: number; cursor?: string | undefined };

export type KeyDraft = {
  name: string;
  scopes: string[];
  expires_at?: string | null | undefined;
  limits: Limits;
  user_id?: string | undefined;
};
type KeyLibrary = {
  create(draft: KeyDraft): Promise<NewKey>;
  list(page: Page): Promise<KeyPage>;
  get(keyId: string): Promise<Key>;
  update(keyId: string, change: Partial<Omit<KeyDraft, "user_id">>): Promise<Key>;
  rotate(keyId: string, overlapSeconds: number): Promise<NewKey>;
  revoke(keyId: string): Promise<Key>;
};

export type TokenWish = {
  expires_in: number;
  scopes?: string[] | undefined;
  origin?: string | undefined;
  max_spend?: number | undefined;
};

export type TenantDraft = { name: string; weight: number; limits: Limits; retention_days: number | null };
export type PersonDraft = { user_id: string; name?: string | null | undefined; email?: string | null | undefined };
type TenantLibrary = {
  create(draft: TenantDraft, owner: PersonDraft): Promise<NewTenant>;
  list(page: Page): Promise<TenantPage>;
  get(tenantId: string): Promise<Tenant>;
  update(tenantId: string, change: Partial<TenantDraft & { suspended: boolean }>): Promise<Tenant>;
};

type MemberLibrary = {
  list(page: Page): Promise<MemberPage>;
  add(person: PersonDraft & Pick<Member, "role">): Promise<Member>;
  update(userId: string, change: Partial<Pick<Member, "role" | "name" | "email">>): Promise<Member>;
  remove(userId: string): Promise<Member>;
};

export type AccessAsk = {
  keys: KeyLibrary;
  mint(wish: TokenWish): Promise<Token>;
  tenants: TenantLibrary;
  members: MemberLibrary;
  audit(page: Page): Promise<AuditPage>;
};
