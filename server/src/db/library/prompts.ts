// The prompt library. Every change inserts a version in the same statement; every read and write is scoped by tenant.

import type { ResourceOwner } from "../access/caller.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { statement } from "../statement.ts";

export type PromptContent = { name: string; text: string; model_type: string | null; tags: string[] };
export type PromptRow = PromptContent & { prompt_id: string; version: number; created_at: Date; updated_at: Date };

/** Searches ignore case and width in every script. */
const foldForSearch = (text: string) => text.normalize("NFKC").toLowerCase();

const PROMPT_COLUMNS = "prompt_id, name, text, model_type, tags, version, created_at, updated_at";

export type NewPrompt = ResourceOwner &
  PromptContent & { prompt_id: string; idempotency?: NewIdempotencyKey | undefined };

const INSERT = statement(
  "prompts.insert",
  `with ${insertIdempotencyKeySql({ kind: "prompt", resource: ":prompt_id" })}, inserted as (
     insert into prompts (tenant_id, prompt_id, name, text, model_type, tags, folded_name, folded_text)
     select :tenant_id, :prompt_id, :name, :text, :model_type?, :tags, :folded_name, :folded_text
     where ${IDEMPOTENCY_KEY_IS_FREE}
     returning tenant_id, ${PROMPT_COLUMNS}
   ), first_version as (
     insert into prompt_versions (tenant_id, prompt_id, version, user_id, name, text, model_type, tags, created_at)
     select tenant_id, prompt_id, version, :user_id, name, text, model_type, tags, created_at from inserted
   )
   select ${PROMPT_COLUMNS} from inserted`,
);

/** Inserts the prompt, its first version and the key. Undefined if another request holds the idempotency key. */
export async function insertPrompt(db: Database, prompt: NewPrompt): Promise<PromptRow | undefined> {
  const [row] = await db.execute(INSERT, {
    tenant_id: prompt.tenant_id,
    prompt_id: prompt.prompt_id,
    user_id: prompt.user_id,
    name: prompt.name,
    text: prompt.text,
    model_type: prompt.model_type,
    tags: prompt.tags,
    folded_name: foldForSearch(prompt.name),
    folded_text: foldForSearch(prompt.text),
    ...idempotencyParameters(prompt.idempotency),
  });
  return row;
}

const FIND = statement(
  "prompts.find",
  `select prompt_id, past.name, past.text, past.model_type, past.tags, past.version, prompts.created_at,
     past.created_at as updated_at
   from prompts join prompt_versions as past using (tenant_id, prompt_id)
   where tenant_id = :tenant_id and prompt_id = :prompt_id and past.version = coalesce(:version?, prompts.version)`,
);

/** The current version of a prompt, or the given one. */
export async function findPrompt(
  db: Database,
  tenantId: string,
  promptId: string,
  version?: number,
): Promise<PromptRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId, prompt_id: promptId, version });
  return row;
}

export type PromptListFilter = { before?: string | undefined; tag?: string | undefined; q?: string | undefined };

const LIST = statement(
  "prompts.list",
  `select ${PROMPT_COLUMNS} from prompts
   where tenant_id = :tenant_id and (:before?::uuid is null or prompt_id < :before?)
     and (:tag?::text is null or :tag? = any (tags))
     and (:folded_query?::text is null or position(:folded_query? in folded_name) > 0
       or position(:folded_query? in folded_text) > 0)
   order by prompt_id desc limit :limit`,
);

/** Newest first, with keyset pagination. */
export async function listPromptRows(
  db: Database,
  tenantId: string,
  { before, tag, q }: PromptListFilter,
  limit: number,
): Promise<PromptRow[]> {
  const folded_query = q === undefined ? undefined : foldForSearch(q);
  return db.execute(LIST, { tenant_id: tenantId, before, tag, folded_query, limit });
}

export type PromptChange = Partial<PromptContent>;

const UPDATE = statement(
  "prompts.update",
  `with changed as (
     update prompts set name = coalesce(:name?, name), folded_name = coalesce(:folded_name?, folded_name),
       text = coalesce(:text?, text), folded_text = coalesce(:folded_text?, folded_text),
       model_type = case when :has_model_type then :model_type? else model_type end,
       tags = coalesce(:tags?::text[], tags), version = version + 1, updated_at = greatest(now(), updated_at)
     where tenant_id = :tenant_id and prompt_id = :prompt_id and version = coalesce(:version?, version)
     returning tenant_id, ${PROMPT_COLUMNS}
   ), new_version as (
     insert into prompt_versions (tenant_id, prompt_id, version, user_id, name, text, model_type, tags, created_at)
     select tenant_id, prompt_id, version, :user_id, name, text, model_type, tags, updated_at from changed
   )
   select ${PROMPT_COLUMNS} from changed`,
);

/** Inserts the next version. Undefined if there is no such prompt, or if `version` is not its current version. */
export async function updatePromptRow(
  db: Database,
  prompt: ResourceOwner & { prompt_id: string; version?: number | undefined },
  { name, text, model_type, tags }: PromptChange,
): Promise<PromptRow | undefined> {
  const [row] = await db.execute(UPDATE, {
    tenant_id: prompt.tenant_id,
    prompt_id: prompt.prompt_id,
    user_id: prompt.user_id,
    version: prompt.version,
    name,
    folded_name: name === undefined ? undefined : foldForSearch(name),
    text,
    folded_text: text === undefined ? undefined : foldForSearch(text),
    has_model_type: model_type !== undefined,
    model_type,
    tags,
  });
  return row;
}

const DELETE = statement(
  "prompts.delete",
  `delete from prompts where tenant_id = :tenant_id and prompt_id = :prompt_id returning ${PROMPT_COLUMNS}`,
);

/** Deletes the prompt with its versions, and returns it. */
export async function deletePromptRow(
  db: Database,
  tenantId: string,
  promptId: string,
): Promise<PromptRow | undefined> {
  const [row] = await db.execute(DELETE, { tenant_id: tenantId, prompt_id: promptId });
  return row;
}
