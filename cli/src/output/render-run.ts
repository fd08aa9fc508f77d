// A run as text for people: in lists as a row, alone as lines.
import type { Run } from "@gesso/client";
import { renderObject } from "./table.ts";

const MAX_PROMPT = 40;

/** Names of the text that a model mainly works from, the most telling first. */
const PROMPT_FIELDS = ["prompt", "text", "lyrics", "question"];

/** What a person wrote. An imported model has it in its own input. */
export function promptOf({ inputs }: Pick<Run, "inputs">): string {
  const own = (inputs?.input ?? {}) as Record<string, unknown>;
  const values = [inputs?.prompt, ...PROMPT_FIELDS.map((name) => own[name])];
  return values.find((each): each is string => typeof each === "string") ?? "";
}

/** The first four columns fit into a terminal of 80. */
export const toRunRow = (run: Run): Record<string, unknown> => ({
  run_id: run.run_id,
  status: run.status,
  cost: run.cost,
  created: run.created_at,
  type: run.run_type,
  prompt: promptOf(run).slice(0, MAX_PROMPT),
});

export const renderRun = (run: Run): string[] =>
  renderObject({
    ...toRunRow(run),
    prompt: promptOf(run),
    model: run.model,
    provider: run.provider,
    finished: run.finished_at,
    parent: run.parent_run_id,
    error: run.error && `${run.error.message} (code: ${run.error.code})`,
    warnings: run.warnings,
    result: run.result && JSON.stringify(run.result),
    files: run.outputs.map(({ url }) => url).join(" "),
  });
