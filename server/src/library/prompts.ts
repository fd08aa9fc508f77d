// The prompt library, in the name of one caller. Another tenant's prompt and no prompt at all are the same answer.
import { createHash } from "node:crypto";
import {
  deletePromptRow,
  findPrompt,
  insertPrompt,
  listPromptRows,
  type PromptChange,
  type PromptContent,
  type PromptRow,
  updatePromptRow,
} from "../db/library/prompts.ts";
import { type Caller, findIdempotencyKey } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { PromptStore } from "../kit/operation.ts";
import type { Prompt } from "../kit/schemas/library.ts";
import { fingerprintRequest } from "../runs/accept-run.ts";
import type { Services } from "../runs/services.ts";
import type { CursorSigner } from "./list-runs.ts";

type RequestContext = { caller: Caller; idempotencyKey?: string | undefined; onReplay?: (() => void) | undefined };
type Dependencies = Pick<Services, "db" | "newId">;

export function createPromptLibrary(
  { db, newId }: Dependencies,
  cursors: CursorSigner,
  context: RequestContext,
): PromptStore {
  const { caller } = context;
  const requirePrompt = (row: PromptRow | undefined): Prompt => {
    if (!row) throw new Fault("prompt_not_found");
    return renderPrompt(row);
  };
  return {
    create: async (draft) =>
      requirePrompt(await createPromptIdempotently({ db, newId }, withUniqueTags(draft), context)),
    get: async (id, version) => requirePrompt(await findPrompt(db, caller.tenant_id, id, version)),
    delete: async (id) => requirePrompt(await deletePromptRow(db, caller.tenant_id, id)),

    async update(id, change, version) {
      const row = await updatePromptRow(db, { ...caller, prompt_id: id, version }, withUniqueTags(change));
      if (row) return renderPrompt(row);
      const current = requirePrompt(await findPrompt(db, caller.tenant_id, id));
      throw new Fault("conflict", { version: current.version });
    },

    async list({ cursor, limit, tag, q }) {
      const scope = createHash("sha256")
        .update(JSON.stringify(["prompts", caller.tenant_id, tag ?? null, q ?? null]))
        .digest("hex");
      const before = cursor === undefined ? undefined : cursors.read(scope, cursor);
      const rows = await listPromptRows(db, caller.tenant_id, { before, tag, q }, limit + 1);
      const page = rows.slice(0, limit);
      return {
        data: page.map(renderPrompt),
        next_cursor: rows.length > limit ? cursors.make(scope, page.at(-1)!.prompt_id) : null,
      };
    },
  };
}

/** The same key makes the same prompt once; asked again it answers that prompt as it stands now. */
async function createPromptIdempotently(
  { db, newId }: Dependencies,
  draft: PromptContent,
  { caller, idempotencyKey, onReplay }: RequestContext,
): Promise<PromptRow | undefined> {
  const fingerprint = fingerprintRequest("prompts.create", draft);
  const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint };
  const row = await insertPrompt(db, { ...caller, ...draft, prompt_id: newId(), idempotency });
  if (row || !idempotency) return row;
  const storedKey = await findIdempotencyKey(db, caller.tenant_id, idempotency.key);
  if (!storedKey) throw new Fault("idempotency_in_progress");
  if (!storedKey.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  onReplay?.();
  return findPrompt(db, caller.tenant_id, storedKey.resource_id);
}

const withUniqueTags = <Content extends PromptChange>(content: Content): Content =>
  content.tags ? { ...content, tags: [...new Set(content.tags)] } : content;

const renderPrompt = ({ prompt_id, created_at, updated_at, ...row }: PromptRow): Prompt => ({
  id: prompt_id,
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
