// Keys, in the name of one caller: made and shown once, changed, replaced and revoked. A key hands on no more than it has,
// and never touches itself, except to give itself up.
import { createHash } from "node:crypto";
import {
  changeKey,
  createKey,
  findKey,
  type KeyRow,
  listKeys,
  type NewKeyRow,
  replaceKey,
  revokeKey,
} from "../db/keys.ts";
import { findKey as findIdempotencyKey } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { AccessAsk, KeyDraft } from "../kit/access.ts";
import type { Key, Limits, NewKey } from "../kit/shapes-access.ts";
import { digestOf, hintOf, makeApiKey } from "./api-key.ts";
import type { Desk } from "./desk.ts";
import { pageOf } from "./pages.ts";
import { checkGift, refuseTokens, withinLimits } from "./rights.ts";

export function keysOf(desk: Desk): AccessAsk["keys"] {
  const { db, caller, cursors } = desk;
  /** Whose keys the caller may see; undefined for everybody's. */
  const of = caller.role === "owner" ? undefined : caller.user_id;
  const own = async (keyId: string): Promise<KeyRow> => {
    const row = await findKey(db, caller.tenant_id, keyId, of);
    if (!row) throw new Fault("route_not_found");
    return row;
  };
  /** A key that the caller may change: it has nothing that the caller has not, and it is another one. */
  const lesser = async (keyId: string): Promise<KeyRow> => {
    const row = await own(keyId);
    checkGift(caller, row);
    if (row.key_id === caller.key_id) throw new Fault("permission_denied", { reason: "own_key" });
    if (row.revoked_at) throw new Fault("conflict", { retryable: false, reason: "revoked" });
    return row;
  };

  return {
    create: (draft) => createOnce(desk, draft),
    get: async (keyId) => showKey(await own(keyId)),
    list: (page) =>
      pageOf(cursors, page, {
        scope: ["keys", caller.tenant_id, of],
        read: (before, limit) => listKeys(db, caller.tenant_id, { before, of }, limit),
        idOf: (row) => row.key_id,
        show: showKey,
      }),

    async update(keyId, { expires_at, ...change }) {
      const seen = await lesser(keyId);
      const until = expires_at === undefined ? undefined : (expires_at && new Date(expires_at)) || null;
      const asked = { ...change, ...(until !== undefined && { expires_at: until }) };
      const limits = change.limits && withinLimits(caller, change.limits);
      checkGift(caller, { ...seen, ...asked, limits: limits ?? seen.limits });
      const row = await changeKey(db, caller, seen, { ...asked, ...(limits && { limits }) });
      if (!row) throw new Fault("conflict");
      desk.keys.forget();
      return showKey(row);
    },

    async rotate(keyId, overlapSeconds) {
      const old = await lesser(keyId);
      const { key, ...secret } = newSecret(desk);
      const row = await replaceKey(db, caller, { ...secret, old, overlapSeconds });
      if (!row) throw new Fault("conflict", { retryable: false, reason: "not_in_force" });
      desk.keys.forget();
      return { ...showKey(row), key };
    },

    async revoke(keyId) {
      const row = await own(keyId);
      refuseTokens(caller);
      if (row.key_id !== caller.key_id)
        checkGift(caller, { ...row, limits: caller.limits, expires_at: caller.expires_at });
      await revokeKey(db, caller, keyId, desk.newId());
      desk.keys.forget();
      return showKey(await own(keyId));
    },
  };
}

/** The same Idempotency-Key makes one key. Asked again it answers that key without its secret, which nobody has any more. */
async function createOnce(desk: Desk, draft: KeyDraft): Promise<NewKey> {
  const { db, caller, idempotencyKey } = desk;
  const user_id = draft.user_id ?? caller.user_id;
  const expires_at = draft.expires_at ? new Date(draft.expires_at) : caller.expires_at;
  const limits = withinLimits(caller, draft.limits);
  checkGift(caller, { scopes: draft.scopes, limits, expires_at });
  if (user_id !== caller.user_id && caller.role !== "owner")
    throw new Fault("permission_denied", { role: caller.role });
  const fingerprint = createHash("sha256")
    .update(JSON.stringify(["keys.create", draft]))
    .digest();
  const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint };
  const { key, ...secret } = newSecret(desk);
  const { name, scopes } = draft;
  const row = await createKey(db, caller, { ...secret, user_id, name, scopes, limits, expires_at, idempotency });
  if (row) return { ...showKey(row), key };
  const known = idempotency && (await findIdempotencyKey(db, caller.tenant_id, idempotency.key));
  if (!known) throw new Fault("route_not_found");
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  const made = await findKey(db, caller.tenant_id, known.run_id, undefined);
  if (!made) throw new Fault("idempotency_in_progress");
  desk.onReplay?.();
  return { ...showKey(made), key: null };
}

export function newSecret({
  newId,
}: Pick<Desk, "newId">): Pick<NewKeyRow, "key_id" | "digest" | "hint"> & { key: string } {
  const key = makeApiKey();
  return { key_id: newId(), key, digest: digestOf(key), hint: hintOf(key) };
}

const time = (at: Date | null) => at?.toISOString() ?? null;

export const showKey = ({ key_id, limits, ...row }: KeyRow): Key => ({
  id: key_id,
  name: row.name,
  hint: row.hint,
  user_id: row.user_id,
  scopes: row.scopes,
  limits: limits as Limits,
  created_at: row.created_at.toISOString(),
  expires_at: time(row.expires_at),
  last_used_at: time(row.last_used_at),
  revoked_at: time(row.revoked_at),
  replaced_by: row.replaced_by,
});
