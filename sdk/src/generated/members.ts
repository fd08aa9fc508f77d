// Printed by `npm run generate` from the code; never edited by hand.
import { byId, byIdWith, call, callList, type Call, type ListCall } from "../call.ts";
import type { Connection } from "../connection.ts";
import { integer, like, some, text, words } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { Member, MemberPage } from "./shapes.ts";

/** What `members.add` takes. */
export type MembersAddInput = {
  /** The person, as your own systems or your identity provider know them */
  user_id: string;
  /** owner: everything in the tenant; developer: everything but its people and its log; viewer: only reads */
  role: "owner" | "developer" | "viewer";
  /** The person's name. Default null */
  name?: string | null;
  /** Where the person can be reached. Default null */
  email?: string | null;
};

/** What `members.list` takes. */
export type MembersListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
};

/** What `members.update` takes. */
export type MembersUpdateInput = {
  /** owner: everything in the tenant; developer: everything but its people and its log; viewer: only reads */
  role?: "owner" | "developer" | "viewer";
  /** The person's name */
  name?: string | null;
  /** Where the person can be reached */
  email?: string | null;
};

/** The operations `members.*`. */
export type Members = {
  /**
   * Take a person into the tenant (owner).
   * @example await client.members.add({ user_id: "grace", role: "developer", name: "Grace" })
   */
  add: (input: MembersAddInput, options?: CallOptions) => Call<Member>;
  /**
   * The people of the tenant, by their ids.
   * @example await client.members.list()
   */
  list: (input?: MembersListInput, options?: CallOptions) => ListCall<MemberPage>;
  /**
   * Take a person out of the tenant; their keys and tokens stop working (owner).
   * @example await client.members.remove("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  remove: (user_id: string, options?: CallOptions) => Call<Member>;
  /**
   * Change a person's role, for all their keys and tokens at once (owner).
   * - Give at least one of role, name, email.
   * @example await client.members.update("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { role: "viewer" })
   */
  update: (user_id: string, input?: MembersUpdateInput, options?: CallOptions) => Call<Member>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const members = membersOf(connect({ baseUrl, apiKey }))
 */
export function membersOf(connection: Connection): Members {
  return {
    add: call(connection, {
      name: "members.add",
      path: "/api/v1/members",
      bodies: "json",
      creates: true,
      required: ["user_id","role"],
      fields: { user_id: like("^[\\x21-\\x7e]{1,255}$"), role: words("owner", "developer", "viewer"), name: { anyOf: [text(0, 200), {"type":"null"}] }, email: { anyOf: [text(0, 320), {"type":"null"}] } },
    }),
    list: callList(connection, {
      name: "members.list",
      method: "GET",
      path: "/api/v1/members",
      fields: { limit: integer(1, 100), cursor: text(0, 1024) },
    }),
    remove: byId(call(connection, {
      name: "members.remove",
      method: "DELETE",
      path: "/api/v1/members/{user_id}",
      required: ["user_id"],
      fields: { user_id: like("^[\\x21-\\x7e]{1,255}$") },
    }), "user_id"),
    update: byIdWith(call(connection, {
      name: "members.update",
      method: "PATCH",
      path: "/api/v1/members/{user_id}",
      bodies: "json",
      required: ["user_id","user_id"],
      fields: { user_id: like("^[\\x21-\\x7e]{1,255}$"), role: words("owner", "developer", "viewer"), name: { anyOf: [text(0, 200), {"type":"null"}] }, email: { anyOf: [text(0, 320), {"type":"null"}] } },
      rules: [some("role", "name", "email")],
    }), "user_id"),
  } as unknown as Members;
}
