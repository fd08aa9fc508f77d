// The authenticated caller of a request: identity, role and what its credential permits.
import type { JsonObject } from "../../kit/schemas/run.ts";

/** The tenant and the user that a resource belongs to. */
export type ResourceOwner = { tenant_id: string; user_id: string };

export type Role = "owner" | "developer" | "viewer";

/** How a session of the console began: with a one-time code, an API key, or an identity provider. */
export type SignInMethod = "code" | "key" | "oidc";

export type Caller = ResourceOwner & {
  /** Null for a token of an external issuer: no API key stands behind it. */
  key_id: string | null;
  role: Role;
  scopes: readonly string[];
  /** Limits of the key. A limit that is missing is not enforced per key. */
  limits: JsonObject;
  /** When the credential expires; null if it does not. */
  expires_at: Date | null;
  /** When keys that this credential creates or changes must expire at the latest; null if they need not. */
  grants_until: Date | null;
  tenant: { weight: number; limits: JsonObject };
  /** Set if the credential is an access token issued by this server for the key. `max_spend` is in US dollars. */
  token: { token_id: string; max_spend: number | null } | null;
  /** Set if the credential is a session of the console. `last_login_at` is null if it is not known. */
  session?: { session_id: string; method: SignInMethod; last_login_at: Date | null };
};
