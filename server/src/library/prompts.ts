// The prompt library of the caller's tenant. A prompt of another tenant returns prompt_not_found, as if it did not
// exist.
import { cursorScope } from "../access/cursors.ts";
import type { RequestContext } from "../access/request-context.ts";
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
import { Fault } from "../faults.ts";
import { createOnce } from "../idempotency/create-once.ts";
import type { Ids } from "../kit/clock.ts";
import type { PromptStore } from "../kit/operation.ts";
import type { Prompt } from "../kit/schemas/library.ts";

export function createPromptStore(ids: Ids, context: RequestContext): PromptStore {
  const { database, caller, cursors } = context;
  const requirePrompt = (row: PromptRow | undefined): Prompt => {
    if (!row) throw new Fault("prompt_not_found");
    return renderPrompt(row);
  };
  return {
    create: async (draft) => renderPrompt(await createPromptIdempotently(ids, context, withUniqueTags(draft))),
    get: async (id, version) => requirePrompt(await findPrompt(database, caller.tenant_id, id, version)),
    delete: async (id) => requirePrompt(await deletePromptRow(database, caller.tenant_id, id)),

    async update(id, change, version) {
      const row = await updatePromptRow(database, { ...caller, prompt_id: id, version }, withUniqueTags(change));
      if (row) return renderPrompt(row);
      const current = requirePrompt(await findPrompt(database, caller.tenant_id, id));
      throw new Fault("conflict", { version: current.version });
    },

    async list({ cursor, limit, tag, q }) {
      const scope = cursorScope("prompts", caller.tenant_id, tag ?? null, q ?? null);
      const before = cursor === undefined ? undefined : cursors.verify(scope, cursor);
      const rows = await listPromptRows(database, caller.tenant_id, { before, tag, q }, limit + 1);
      const page = rows.slice(0, limit);
      return {
        data: page.map(renderPrompt),
        next_cursor: rows.length > limit ? cursors.sign(scope, page.at(-1)!.prompt_id) : null,
      };
    },
  };
}

/** A replay returns the prompt in its current state. */
const createPromptIdempotently = (ids: Ids, context: RequestContext, draft: PromptContent): Promise<PromptRow> =>
  createOnce(context, {
    operation: "prompts.create",
    kind: "prompt",
    input: draft,
    create: (idempotency) =>
      insertPrompt(context.database, { ...context.caller, ...draft, prompt_id: ids.next(), idempotency }),
    find: (promptId) => findPrompt(context.database, context.caller.tenant_id, promptId),
    missingFault: "prompt_not_found",
  });

const withUniqueTags = <Content extends PromptChange>(content: Content): Content =>
  content.tags ? { ...content, tags: [...new Set(content.tags)] } : content;

const renderPrompt = ({ prompt_id, created_at, updated_at, ...row }: PromptRow): Prompt => ({
  id: prompt_id,
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
