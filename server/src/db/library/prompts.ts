// The prompt library. Every change is a version of its own, written in the statement that makes it; every read and write
// is scoped by tenant.
import type { Database } from "../connect.ts";
import type { ResourceOwner } from "../runs/runs.ts";

export type PromptContent = { name: string; text: string; model_type: string | null; tags: string[] };
export type PromptRow = PromptContent & { prompt_id: string; version: number; created_at: Date; updated_at: Date };

/** Case and width do not matter in a search, in any script. */
const foldForSearch = (text: string) => text.normalize("NFKC").toLowerCase();

const PROMPT_COLUMNS = "prompt_id, name, text, model_type, tags, version, created_at, updated_at";

export type NewPrompt = ResourceOwner &
  PromptContent & { prompt_id: string; idempotency?: { key: string; fingerprint: Buffer } | undefined };

/** Prompt, first version and key in one statement. Nothing answers undefined: the key is taken. */
export async function insertPrompt(db: Database, prompt: NewPrompt): Promise<PromptRow | undefined> {
  const [row] = await db.query<PromptRow>(
    "prompts.create",
    `with key as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $1, $10, $11, $2 where $10::text is not null
       on conflict do nothing returning run_id
     ), made as (
       insert into prompts (tenant_id, prompt_id, name, text, model_type, tags, folded_name, folded_text)
       select $1, $2, $4, $5, $6, $7, $8, $9 where $10::text is null or exists (select from key)
       returning *
     ), first as (
       insert into prompt_versions (tenant_id, prompt_id, version, user_id, name, text, model_type, tags, created_at)
       select tenant_id, prompt_id, version, $3, name, text, model_type, tags, created_at from made
     )
     select ${PROMPT_COLUMNS} from made`,
    [
      ...[prompt.tenant_id, prompt.prompt_id, prompt.user_id, prompt.name, prompt.text, prompt.model_type, prompt.tags],
      ...[
        foldForSearch(prompt.name),
        foldForSearch(prompt.text),
        prompt.idempotency?.key,
        prompt.idempotency?.fingerprint,
      ],
    ],
  );
  return row;
}

/** A prompt as it stands, or as it was in one version. */
export async function findPrompt(
  db: Database,
  tenantId: string,
  promptId: string,
  version?: number,
): Promise<PromptRow | undefined> {
  const [row] = await db.query<PromptRow>(
    "prompts.find",
    `select prompt_id, past.name, past.text, past.model_type, past.tags, past.version, prompts.created_at,
       past.created_at as updated_at
     from prompts join prompt_versions as past using (tenant_id, prompt_id)
     where tenant_id = $1 and prompt_id = $2 and past.version = coalesce($3, prompts.version)`,
    [tenantId, promptId, version],
  );
  return row;
}

export type PromptListFilter = { before?: string | undefined; tag?: string | undefined; q?: string | undefined };

/** Newest first, by key-set. */
export async function listPromptRows(
  db: Database,
  tenantId: string,
  { before, tag, q }: PromptListFilter,
  limit: number,
): Promise<PromptRow[]> {
  return db.query<PromptRow>(
    "prompts.list",
    `select ${PROMPT_COLUMNS} from prompts
     where tenant_id = $1 and ($3::uuid is null or prompt_id < $3) and ($4::text is null or $4 = any (tags))
       and ($5::text is null or position($5 in folded_name) > 0 or position($5 in folded_text) > 0)
     order by prompt_id desc limit $2`,
    [tenantId, limit, before, tag, q === undefined ? undefined : foldForSearch(q)],
  );
}

export type PromptChange = Partial<PromptContent>;

/** Makes the next version. Undefined: there is no such prompt, or `version` is no longer its version. */
export async function updatePromptRow(
  db: Database,
  prompt: ResourceOwner & { prompt_id: string; version?: number | undefined },
  { name, text, model_type, tags }: PromptChange,
): Promise<PromptRow | undefined> {
  const [row] = await db.query<PromptRow>(
    "prompts.change",
    `with changed as (
       update prompts set name = coalesce($5, name), folded_name = coalesce($6, folded_name),
         text = coalesce($7, text), folded_text = coalesce($8, folded_text),
         model_type = case when $9 then $10 else model_type end, tags = coalesce($11::text[], tags),
         version = version + 1, updated_at = greatest(now(), updated_at)
       where tenant_id = $1 and prompt_id = $2 and version = coalesce($4, version)
       returning *
     ), kept as (
       insert into prompt_versions (tenant_id, prompt_id, version, user_id, name, text, model_type, tags, created_at)
       select tenant_id, prompt_id, version, $3, name, text, model_type, tags, updated_at from changed
     )
     select ${PROMPT_COLUMNS} from changed`,
    [
      ...[prompt.tenant_id, prompt.prompt_id, prompt.user_id, prompt.version],
      ...[
        name,
        name === undefined ? undefined : foldForSearch(name),
        text,
        text === undefined ? undefined : foldForSearch(text),
      ],
      ...[model_type !== undefined, model_type, tags],
    ],
  );
  return row;
}

/** The prompt as it was; its versions go with it. */
export async function deletePromptRow(
  db: Database,
  tenantId: string,
  promptId: string,
): Promise<PromptRow | undefined> {
  const [row] = await db.query<PromptRow>(
    "prompts.delete",
    `delete from prompts where tenant_id = $1 and prompt_id = $2 returning ${PROMPT_COLUMNS}`,
    [tenantId, promptId],
  );
  return row;
}
