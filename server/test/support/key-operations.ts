// The operations on API keys of one caller, called without HTTP.
import { v7 } from "uuid";
import type { RequestContext } from "../../src/access/request-context.ts";
import type { JsonObject } from "../../src/contract/schemas/run.ts";
import { createKey, getKey, listKeys, revokeKey, rotateKey, updateKey } from "../../src/operations/index.ts";

export type KeyDraft = { name: string; scopes: string[]; limits: object; expires_at?: string | null; user_id?: string };

export function openKeys(request: object, invalidateCredentials = () => {}) {
  const context = { onReplay() {}, ...request } as RequestContext;
  const provided = { ids: { next: () => v7() }, cell: "", invalidateCredentials };
  return {
    create: (draft: KeyDraft) => createKey.handle(draft, context, provided),
    get: (key_id: string) => getKey.handle({ key_id }, context, provided),
    list: (page: JsonObject) => listKeys.handle(page, context, provided),
    update: (key_id: string, change: JsonObject) => updateKey.handle({ key_id, ...change }, context, provided),
    rotate: (key_id: string, overlap_seconds: number) =>
      rotateKey.handle({ key_id, overlap_seconds }, context, provided),
    revoke: (key_id: string, kept: JsonObject = {}) => revokeKey.handle({ key_id, ...kept }, context, provided),
  };
}
