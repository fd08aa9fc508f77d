// What the operations on prompts have in common. A prompt of another tenant returns prompt_not_found, as if it did not
// exist.

import type { Prompt } from "../contract/schemas/library.ts";
import type { PromptChange, PromptRow } from "../db/library/prompts.ts";
import { Fault } from "../faults/faults.ts";

export function requirePrompt(row: PromptRow | undefined): Prompt {
  if (!row) throw new Fault("prompt_not_found");
  return renderPrompt(row);
}

export const withUniqueTags = <Content extends PromptChange>(content: Content): Content =>
  content.tags ? { ...content, tags: [...new Set(content.tags)] } : content;

export const renderPrompt = ({ prompt_id, created_at, updated_at, ...row }: PromptRow): Prompt => ({
  id: prompt_id,
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
