// The prompt library, in the name of one caller. Another tenant's prompt and no prompt at all are the same answer.
import { createHash } from "node:crypto";
import {
  changePrompt,
  createPrompt,
  deletePrompt,
  findPrompt,
  listPrompts,
  type PromptChange,
  type PromptContent,
  type PromptRow,
} from "../db/prompts.ts";
import { type Caller, findKey } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { PromptLibrary } from "../kit/operation.ts";
import type { Prompt } from "../kit/shapes-library.ts";
import type { House } from "./house.ts";
import type { CursorSigner } from "./list.ts";
import { fingerprintOf } from "./start.ts";

type Context = { caller: Caller; idempotencyKey?: string | undefined; onReplay?: (() => void) | undefined };
type Shelf = Pick<House, "db" | "newId">;

export function libraryOf({ db, newId }: Shelf, cursors: CursorSigner, context: Context): PromptLibrary {
  const { caller } = context;
  const found = (row: PromptRow | undefined): Prompt => {
    if (!row) throw new Fault("prompt_not_found");
    return showPrompt(row);
  };
  return {
    create: async (draft) => found(await createOnce({ db, newId }, withoutDoubles(draft), context)),
    get: async (id, version) => found(await findPrompt(db, caller.tenant_id, id, version)),
    delete: async (id) => found(await deletePrompt(db, caller.tenant_id, id)),

    async update(id, change, version) {
      const row = await changePrompt(db, { ...caller, prompt_id: id, version }, withoutDoubles(change));
      if (row) return showPrompt(row);
      const current = found(await findPrompt(db, caller.tenant_id, id));
      throw new Fault("conflict", { version: current.version });
    },

    async list({ cursor, limit, tag, q }) {
      const scope = createHash("sha256")
        .update(JSON.stringify(["prompts", caller.tenant_id, tag ?? null, q ?? null]))
        .digest("hex");
      const before = cursor === undefined ? undefined : cursors.read(scope, cursor);
      const rows = await listPrompts(db, caller.tenant_id, { before, tag, q }, limit + 1);
      const page = rows.slice(0, limit);
      return {
        data: page.map(showPrompt),
        next_cursor: rows.length > limit ? cursors.make(scope, page.at(-1)!.prompt_id) : null,
      };
    },
  };
}

/** The same key makes the same prompt once; asked again it answers that prompt as it stands now. */
async function createOnce(
  { db, newId }: Shelf,
  draft: PromptContent,
  { caller, idempotencyKey, onReplay }: Context,
): Promise<PromptRow | undefined> {
  const fingerprint = fingerprintOf("prompts.create", draft);
  const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint };
  const row = await createPrompt(db, { ...caller, ...draft, prompt_id: newId(), idempotency });
  if (row || !idempotency) return row;
  const known = await findKey(db, caller.tenant_id, idempotency.key);
  if (!known) throw new Fault("idempotency_in_progress");
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  onReplay?.();
  return findPrompt(db, caller.tenant_id, known.run_id);
}

const withoutDoubles = <Content extends PromptChange>(content: Content): Content =>
  content.tags ? { ...content, tags: [...new Set(content.tags)] } : content;

const showPrompt = ({ prompt_id, created_at, updated_at, ...row }: PromptRow): Prompt => ({
  id: prompt_id,
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
