// Printed by `npm run generate` from the code; never edited by hand.
import { byId, byIdWith, call, callList, type Call, type ListCall } from "../call.ts";
import type { Connection } from "../connection.ts";
import { integer, like, list, some, text, uuid } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { AccessLimits, Key, KeyPage, NewKey } from "./shapes.ts";

/** What `keys.create` takes. */
export type KeysCreateInput = {
  /** What the key is for */
  name: string;
  /** What it may do: `images:write`, `runs:read`, `keys:*`, … or `*`. Never more than the credential that asks */
  scopes: string[];
  /** When it stops working by itself; null for never */
  expires_at?: string | null;
  /** What it may use; never more than the key that asks. Default {} */
  limits?: AccessLimits;
  /** Whose key it is; an owner may make keys for other members */
  user_id?: string;
};

/** What `keys.list` takes. */
export type KeysListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
};

/** What `keys.rotate` takes. */
export type KeysRotateInput = {
  /** How long the old key still works. 0 to 2592000. Default 86400 */
  overlap_seconds?: number;
};

/** What `keys.update` takes. */
export type KeysUpdateInput = {
  /** What the key is for */
  name?: string;
  /** What it may do: `images:write`, `runs:read`, `keys:*`, … or `*`. Never more than the credential that asks */
  scopes?: string[];
  /** When it stops working by itself; null for never */
  expires_at?: string | null;
  /** All limits of the key: those that are left out are taken away */
  limits?: AccessLimits;
};

/** The operations `keys.*`. */
export type Keys = {
  /**
   * Make an API key; it is shown in this answer and never again.
   * @example await client.keys.create({ name: "The website", scopes: ["images:write","runs:read"], limits: {"spend_per_day":20} })
   */
  create: (input: KeysCreateInput, options?: CallOptions) => Call<NewKey>;
  /**
   * What is known of a key: never the key itself.
   * @example await client.keys.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  get: (key_id: string, options?: CallOptions) => Call<Key>;
  /**
   * The keys of the tenant, newest first; those who are not owners see their own.
   * @example await client.keys.list()
   */
  list: (input?: KeysListInput, options?: CallOptions) => ListCall<KeyPage>;
  /**
   * Make a key useless, with every token that it has minted; everywhere within five seconds.
   * @example await client.keys.revoke("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  revoke: (key_id: string, options?: CallOptions) => Call<Key>;
  /**
   * Make a key that takes the place of another; for a while both work.
   * @example await client.keys.rotate("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { overlap_seconds: 3600 })
   */
  rotate: (key_id: string, input?: KeysRotateInput, options?: CallOptions) => Call<NewKey>;
  /**
   * Change what a key is called, may do and may use, and when it ends.
   * - Give at least one of name, scopes, expires_at, limits.
   * @example await client.keys.update("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { scopes: ["runs:read"] })
   */
  update: (key_id: string, input?: KeysUpdateInput, options?: CallOptions) => Call<Key>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const keys = keysOf(connect({ baseUrl, apiKey }))
 */
export function keysOf(connection: Connection): Keys {
  return {
    create: call(connection, {
      name: "keys.create",
      path: "/api/v1/keys",
      bodies: "json",
      creates: true,
      required: ["name","scopes"],
      fields: { name: text(1, 200), scopes: list(like("^(\\*|\\*:read|[a-z][a-z-]{0,30}:(read|write|\\*))$"), 1, 64), expires_at: { anyOf: [text(), {"type":"null"}] }, limits: {}, user_id: like("^[\\x21-\\x7e]{1,255}$") },
    }),
    get: byId(call(connection, {
      name: "keys.get",
      method: "GET",
      path: "/api/v1/keys/{key_id}",
      required: ["key_id"],
      fields: { key_id: uuid },
    }), "key_id"),
    list: callList(connection, {
      name: "keys.list",
      method: "GET",
      path: "/api/v1/keys",
      fields: { limit: integer(1, 100), cursor: text(0, 1024) },
    }),
    revoke: byId(call(connection, {
      name: "keys.revoke",
      method: "DELETE",
      path: "/api/v1/keys/{key_id}",
      required: ["key_id"],
      fields: { key_id: uuid },
    }), "key_id"),
    rotate: byIdWith(call(connection, {
      name: "keys.rotate",
      path: "/api/v1/keys/{key_id}/rotate",
      bodies: "json",
      creates: true,
      required: ["key_id","key_id"],
      fields: { key_id: uuid, overlap_seconds: integer(0, 2592000) },
    }), "key_id"),
    update: byIdWith(call(connection, {
      name: "keys.update",
      method: "PATCH",
      path: "/api/v1/keys/{key_id}",
      bodies: "json",
      required: ["key_id","key_id"],
      fields: { key_id: uuid, name: text(1, 200), scopes: list(like("^(\\*|\\*:read|[a-z][a-z-]{0,30}:(read|write|\\*))$"), 1, 64), expires_at: { anyOf: [text(), {"type":"null"}] }, limits: {} },
      rules: [some("name", "scopes", "expires_at", "limits")],
    }), "key_id"),
  } as unknown as Keys;
}
