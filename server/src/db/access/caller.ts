// The authenticated caller of a request: identity, role and what its credential permits.

import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Role, SignInMethod } from "../typed-columns.ts";

/** The tenant and the user that a resource belongs to. */
export type ResourceOwner = { tenant_id: string; user_id: string };

/**
 * A key whose limits count something. `holder_id` is its ID or, after rotations, the ID of the first key: old and new
 * key count together.
 */
export type LimitHolder = { holder_id: string; limits: JsonObject };

export type Caller = ResourceOwner & {
  /** Null for a token of an external issuer: no API key stands behind it. */
  key_id: string | null;
  role: Role;
  scopes: readonly string[];
  /** Limits of the key. A limit that is missing is not enforced per key. */
  limits: JsonObject;
  /** The keys that the key was made with, from the root. Their limits count what it does, too. */
  ancestors: readonly LimitHolder[];
  /** What the limits of the key are counted by, if that is not its ID: the first key of its rotation. */
  holder_id?: string;
  /** When the credential expires; null if it does not. */
  expires_at: Date | null;
  /** When keys that this credential creates or changes must expire at the latest; null if they need not. */
  grants_until: Date | null;
  tenant: { weight: number; limits: JsonObject };
  /**
   * Set if the credential is an access token issued by this server for the key. `max_spend` is in US dollars.
   * `end_user` is the visitor of an app whose runs alone it sees. What its runs cost counts for `customer` and `tags`.
   */
  token: {
    token_id: string;
    max_spend: number | null;
    end_user: string;
    customer?: string | null;
    tags?: readonly string[];
  } | null;
  /** Set if the credential is a session of the console. `last_login_at` is null if it is not known. */
  session?: { session_id: string; method: SignInMethod; last_login_at: Date | null };
};

/** The keys whose limits count what a caller does, from the root to its own. Empty if no key stands behind it. */
export const limitHolders = ({
  key_id,
  holder_id = key_id ?? undefined,
  ancestors,
  limits,
}: Pick<Caller, "key_id" | "holder_id" | "ancestors" | "limits">): LimitHolder[] =>
  holder_id === undefined ? [] : [...ancestors, { holder_id, limits }];
