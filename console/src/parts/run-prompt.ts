// The prompt of a run: its own, or that in the input of an imported model, which can have another name.
import type { Run } from "@gesso/client";

/** Names of the text that a model mainly works from, the most telling first. */
const NAMES = ["prompt", "text", "lyrics", "question"];

export function findPrompt({ inputs }: Pick<Run, "inputs">): string | null {
  const input = typeof inputs.input === "object" && inputs.input !== null ? inputs.input : {};
  const values = [inputs.prompt, ...NAMES.map((name) => (input as Record<string, unknown>)[name])];
  return values.find((value): value is string => typeof value === "string" && value !== "") ?? null;
}
