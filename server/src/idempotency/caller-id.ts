// Whose an idempotency key is, and whose requests can be joined: those of one credential and one end user, and never of
// another one of the tenant. It outlives the credential: a rotated key, a renewed token and a later session have the
// same.
import { createHash } from "node:crypto";
import type { Caller } from "../db/access/caller.ts";

export type IdempotencyCaller = Pick<Caller, "user_id" | "key_id"> &
  Partial<Pick<Caller, "holder_id" | "token" | "session">>;

/**
 * An API key: the first of the keys that it replaced by rotation. An access token: its key and its end user. A session
 * of the console and a token of an identity provider: the user.
 */
export function identifyCaller(caller: IdempotencyCaller): string {
  const key = findFirstKeyId(caller);
  if (key === null) return toUuid(["user", caller.user_id]);
  return caller.token ? toUuid(["end_user", key, caller.token.end_user]) : key;
}

/** Null if the caller is a user and not one of its keys. */
export const findFirstKeyId = ({ key_id, holder_id, session }: IdempotencyCaller): string | null =>
  session ? null : (holder_id ?? key_id);

/** A UUID of version 8: made from a digest, and different from every ID of a key, which has version 7. */
function toUuid(parts: string[]): string {
  const bytes = createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = 0x80 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
