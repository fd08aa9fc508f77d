// Prompts of earlier runs, each once, newest first.
import type { Run } from "@gesso/client";

const MAX_PROMPTS = 12;

export function promptsOf(runs: readonly Pick<Run, "inputs">[]): string[] {
  const prompts = runs.flatMap(({ inputs: { prompt } }) =>
    typeof prompt === "string" && prompt !== "" ? [prompt] : [],
  );
  return [...new Set(prompts)].slice(0, MAX_PROMPTS);
}

/** The prompt that is `step` places older; undefined if there is none. A prompt that is not known is the newest. */
export function nextPrompt(prompts: readonly string[], current: unknown, step: number): string | undefined {
  const index = typeof current === "string" ? prompts.indexOf(current) : -1;
  return index + step < 0 ? undefined : prompts[index + step];
}
