// Custom models in runs: what a job names is looked up in the name of whoever asked, when the run is accepted and again when
// it starts. No such model and no right to it are one answer.
import { z } from "zod";
import { listAttempts } from "../db/attempts.ts";
import { foldLora, type Standing, standingOf, type UsableModel } from "../db/models.ts";
import type { Owner } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { House, LoraNames } from "./house.ts";

export const ModelsEnv = z.object({
  LORA_NAMES: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((name) => name.trim()))
    .describe("LoRAs, separated by commas, that every caller may name; * for all that nobody has registered"),
});

export const loraNamesOf = ({ LORA_NAMES }: z.output<typeof ModelsEnv>): LoraNames => ({
  names: new Set(LORA_NAMES.filter((name) => name !== "" && name !== "*").map(foldLora)),
  isOpen: LORA_NAMES.includes("*"),
});

type Registry = Pick<House, "db" | "loraNames">;

const LORA_FIELDS = ["lora_low_name", "lora_high_name", "lora_1"];

const modelIdOf = ({ options }: Job) => options?.model_id as string | undefined;
const lorasOf = ({ options = {} }: Job) => LORA_FIELDS.flatMap((field) => (options[field] as string | undefined) ?? []);

/** Whether somebody may use everything that the jobs name; the models among it, where they may. */
async function mayUse({ db, loraNames }: Registry, user: Owner, plan: Job[]): Promise<UsableModel[] | undefined> {
  const modelIds = plan.flatMap((job) => modelIdOf(job) ?? []);
  const loras = plan.flatMap(lorasOf);
  if (modelIds.length === 0 && loras.length === 0) return [];
  const standing = await standingOf(db, user, { modelIds, loras });
  const isUsable = (id: string) => standing.usable.some((model) => model.model_id === id);
  const isFree = (name: string) => mayName(loraNames, standing, foldLora(name));
  return modelIds.every(isUsable) && loras.every(isFree) ? standing.usable : undefined;
}

/** A name that the operator gave to all is everybody's. Any other that was registered is for those with a right to it. */
function mayName({ names, isOpen }: LoraNames, { usable, registered }: Standing, name: string): boolean {
  if (names.has(name) || usable.some((model) => model.lora_name === name)) return true;
  return isOpen && !registered.includes(name);
}

export type Resolved = { plan: Job[]; notes: string[] };

/** The plan with what the registry knows of its models: where each runs, and the word that calls it. */
export async function resolveModels(house: Registry, user: Owner, plan: Job[]): Promise<Resolved> {
  const models = await mayUse(house, user, plan);
  if (!models) throw new Fault("model_not_found");
  const resolved = plan.map((job) => {
    const model = models.find(({ model_id }) => model_id === modelIdOf(job));
    return model ? withModel(job, model) : { job, notes: [] };
  });
  return { plan: resolved.map(({ job }) => job), notes: [...new Set(resolved.flatMap(({ notes }) => notes))] };
}

function withModel(job: Job, model: UsableModel): { job: Job; notes: string[] } {
  if (model.model_type !== job.model) {
    const message = `This model is made for ${model.model_type}.`;
    throw new Fault("validation_error", { errors: [{ path: "/model_id", code: "unknown_value", message }] });
  }
  const placed = { ...job, options: { ...job.options, deployment_id: model.deployment_id } };
  const word = model.trigger_word;
  if (word === null || job.prompt === undefined || hasWord(job.prompt, word)) return { job: placed, notes: [] };
  return {
    job: { ...placed, prompt: `${word}, ${job.prompt}` },
    notes: [`The model's trigger word ${word} was put before the prompt.`],
  };
}

/** As a word of its own: `ink` does not stand in `drinking`. */
function hasWord(prompt: string, word: string): boolean {
  const part = "[\\p{L}\\p{N}_]";
  const literal = word.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`(?<!${part})${literal}(?!${part})`, "iu").test(prompt);
}

/**
 * Refuses a run whose right was taken away while it waited. What has been sent to a provider is seen through: it is paid
 * for, and stopping here would not take it back.
 */
export async function checkModels(house: Registry, run: Owner & { run_id: string; plan: Job[] }): Promise<void> {
  if (await mayUse(house, run, run.plan)) return;
  if ((await listAttempts(house.db, run.run_id)).length === 0) throw new Fault("model_not_found");
}
