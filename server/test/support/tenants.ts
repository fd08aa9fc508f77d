// Tenants of a test's own, beside the one that every installation begins with.
import { v7 } from "uuid";
import { apiKeyHint, generateApiKey, hashApiKey } from "../../src/access/api-key.ts";
import { TOKEN_SCOPES } from "../../src/contract/token-scopes.ts";
import type { Caller as Known } from "../../src/db/access/caller.ts";
import type { Role } from "../../src/db/typed-columns.ts";
import { type ApiCaller, createHttpCaller } from "./api-caller.ts";
import type { TestEnvironment } from "./test-environment.ts";

/** The tenant that every installation begins with. Its key in the settings is the operator's. */
export const DEFAULT_TENANT = "00000000-0000-7000-8000-000000000001";

/** `*` does not include what the operator may do. */
export const OPERATOR_SCOPES = ["*", "tenants:*"];

/** A caller as the modules behind authentication see it, with defaults for everything that a test does not need. */
export const createCallerRecord = (about: Partial<Known> = {}): Known => ({
  tenant_id: DEFAULT_TENANT,
  user_id: "owner",
  key_id: null,
  role: "owner",
  scopes: ["*"],
  limits: {},
  ancestors: [],
  expires_at: null,
  grants_until: null,
  tenant: { weight: 1, limits: {} },
  token: null,
  ...about,
});

/** The request for an access token with all that a token can have, for one end user. */
export const TOKEN_REQUEST = { end_user: "visitor-1", scopes: TOKEN_SCOPES };

export type TenantOptions = {
  role?: Role;
  scopes?: string[];
  /** Of the key. */
  limits?: object;
  expires_at?: Date;
  tenant?: { weight?: number; limits?: object };
  /** Another user or another key in an existing tenant. */
  tenantId?: string;
  user_id?: string;
};

export type TestTenant = { tenant_id: string; user_id: string; key_id: string; key: string; caller: ApiCaller };

/** A tenant with one user and one key, inserted directly into the database. */
export async function createTestTenant(
  environment: Pick<TestEnvironment, "url" | "query">,
  options: TenantOptions = {},
): Promise<TestTenant> {
  const { tenantId: tenant_id = v7(), user_id = "owner", tenant = {} } = options;
  const [key_id, key] = [v7(), generateApiKey()];
  await environment.query(
    "insert into tenants (tenant_id, name, weight, limits) values ($1, $2, $3, $4) on conflict do nothing",
    [tenant_id, `test ${tenant_id}`, tenant.weight ?? 1, tenant.limits ?? {}],
  );
  await environment.query(
    `insert into members (tenant_id, user_id, role) values ($1, $2, $3)
     on conflict (tenant_id, user_id) do update set role = excluded.role`,
    [tenant_id, user_id, options.role ?? "owner"],
  );
  await environment.query(
    `insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits, expires_at)
     values ($1, $2, $3, 'test', $4, $5, $6, $7, $8)`,
    [
      ...[key_id, tenant_id, user_id, hashApiKey(key), apiKeyHint(key), options.scopes ?? ["*"]],
      ...[options.limits ?? {}, options.expires_at ?? null],
    ],
  );
  return { tenant_id, user_id, key_id, key, caller: createHttpCaller({ url: environment.url, key }) };
}
