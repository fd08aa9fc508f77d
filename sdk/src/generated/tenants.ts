// Printed by `npm run generate` from the code; never edited by hand.
import { byId, byIdWith, call, callList, type Call, type ListCall } from "../call.ts";
import type { Connection } from "../connection.ts";
import { boolean, integer, like, number, some, text, uuid } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { AccessLimits, Balance, NewTenant, Tenant, TenantPage } from "./shapes.ts";

/** What `tenants.create` takes. */
export type TenantsCreateInput = {
  /** What the tenant is called */
  name: string;
  /** Its share of what there is: with 2 it gets twice as much as with 1. 0.01 to 1000. Default 1 */
  weight?: number;
  /** What all its keys together may use. Default {} */
  limits?: AccessLimits;
  /** Days after its end that a run's files are kept; 0 for ever, null as the installation is set. Default null */
  retention_days?: number | null;
  /** Its first owner. Default "owner" */
  owner_id?: string;
  /** The person's name. Default null */
  owner_name?: string | null;
  /** Where the person can be reached. Default null */
  owner_email?: string | null;
};

/** What `tenants.credit` takes. */
export type TenantsCreditInput = {
  /** US dollars, to a millionth; below zero takes them out, never more than are there. -1000000 to 1000000 */
  amount: number;
  /** Refuse runs that the balance does not cover; false: the tenant is not bound to its balance any more. Default true */
  prepaid?: boolean;
};

/** What `tenants.list` takes. */
export type TenantsListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
};

/** What `tenants.update` takes. */
export type TenantsUpdateInput = {
  /** What the tenant is called */
  name?: string;
  /** Its share of what there is: with 2 it gets twice as much as with 1. 0.01 to 1000 */
  weight?: number;
  /** All limits of the tenant: those that are left out are taken away */
  limits?: AccessLimits;
  /** Days after its end that a run's files are kept; 0 for ever, null as the installation is set */
  retention_days?: number | null;
  /** Refuse all its credentials, or let them in again */
  suspended?: boolean;
};

/** The operations `tenants.*`. */
export type Tenants = {
  /**
   * Make a tenant with its first owner and a key for them, shown in this answer only (operator).
   * @example await client.tenants.create({ name: "Acme", owner_id: "ada", limits: {"spend_per_month":500} })
   */
  create: (input: TenantsCreateInput, options?: CallOptions) => Call<NewTenant>;
  /**
   * Put money into a tenant's balance, or take it out; from then on it pays in advance (operator).
   * @example await client.tenants.credit("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { amount: 25 })
   */
  credit: (tenant_id: string, input: TenantsCreditInput, options?: CallOptions) => Call<Balance>;
  /**
   * A tenant (operator).
   * @example await client.tenants.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  get: (tenant_id: string, options?: CallOptions) => Call<Tenant>;
  /**
   * All tenants, newest first (operator).
   * @example await client.tenants.list()
   */
  list: (input?: TenantsListInput, options?: CallOptions) => ListCall<TenantPage>;
  /**
   * Change a tenant's name, share, limits and how long its files are kept, or suspend it (operator).
   * - Give at least one of name, weight, limits, retention_days, suspended.
   * @example await client.tenants.update("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { weight: 2 })
   */
  update: (tenant_id: string, input?: TenantsUpdateInput, options?: CallOptions) => Call<Tenant>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const tenants = tenantsOf(connect({ baseUrl, apiKey }))
 */
export function tenantsOf(connection: Connection): Tenants {
  return {
    create: call(connection, {
      name: "tenants.create",
      path: "/api/v1/tenants",
      bodies: "json",
      creates: true,
      required: ["name"],
      fields: { name: text(1, 200), weight: number(0.01, 1000), limits: {}, retention_days: { anyOf: [integer(0, 36500), {"type":"null"}] }, owner_id: like("^[\\x21-\\x7e]{1,255}$"), owner_name: { anyOf: [text(0, 200), {"type":"null"}] }, owner_email: { anyOf: [text(0, 320), {"type":"null"}] } },
    }),
    credit: byIdWith(call(connection, {
      name: "tenants.credit",
      path: "/api/v1/tenants/{tenant_id}/credit",
      bodies: "json",
      creates: true,
      required: ["tenant_id","tenant_id","amount"],
      fields: { tenant_id: uuid, amount: number(-1000000, 1000000), prepaid: boolean },
    }), "tenant_id"),
    get: byId(call(connection, {
      name: "tenants.get",
      method: "GET",
      path: "/api/v1/tenants/{tenant_id}",
      required: ["tenant_id"],
      fields: { tenant_id: uuid },
    }), "tenant_id"),
    list: callList(connection, {
      name: "tenants.list",
      method: "GET",
      path: "/api/v1/tenants",
      fields: { limit: integer(1, 100), cursor: text(0, 1024) },
    }),
    update: byIdWith(call(connection, {
      name: "tenants.update",
      method: "PATCH",
      path: "/api/v1/tenants/{tenant_id}",
      bodies: "json",
      required: ["tenant_id","tenant_id"],
      fields: { tenant_id: uuid, name: text(1, 200), weight: number(0.01, 1000), limits: {}, retention_days: { anyOf: [integer(0, 36500), {"type":"null"}] }, suspended: boolean },
      rules: [some("name", "weight", "limits", "retention_days", "suspended")],
    }), "tenant_id"),
  } as unknown as Tenants;
}
