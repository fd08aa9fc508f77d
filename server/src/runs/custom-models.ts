// Custom models in runs: what a job names is looked up in the name of whoever asked, when the run is accepted and again when
// it starts. No such model and no right to it are one answer.
import { z } from "zod";
import { findModelAccess, type ModelAccess, normalizeLoraName, type UsableModel } from "../db/library/custom-models.ts";
import { listAttempts } from "../db/runs/attempts.ts";
import type { ResourceOwner } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { AllowedLoras, Services } from "./services.ts";

export const CustomModelsEnv = z.object({
  LORA_NAMES: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((name) => name.trim()))
    .describe("LoRAs that every tenant can use, comma-separated; * for all unregistered LoRAs. Default: none"),
});

export const parseAllowedLoras = ({ LORA_NAMES }: z.output<typeof CustomModelsEnv>): AllowedLoras => ({
  names: new Set(LORA_NAMES.filter((name) => name !== "" && name !== "*").map(normalizeLoraName)),
  allowsUnregistered: LORA_NAMES.includes("*"),
});

type Dependencies = Pick<Services, "db" | "loraNames">;

const LORA_FIELDS = ["lora_low_name", "lora_high_name", "lora_1"];

const modelIdOf = ({ options }: Job) => options?.model_id as string | undefined;
const loraNamesIn = ({ options = {} }: Job) =>
  LORA_FIELDS.flatMap((field) => (options[field] as string | undefined) ?? []);

/** Whether somebody may use everything that the jobs name; the models among it, where they may. */
async function findUsableModels(
  { db, loraNames }: Dependencies,
  user: ResourceOwner,
  plan: Job[],
): Promise<UsableModel[] | undefined> {
  const modelIds = plan.flatMap((job) => modelIdOf(job) ?? []);
  const loras = plan.flatMap(loraNamesIn);
  if (modelIds.length === 0 && loras.length === 0) return [];
  const access = await findModelAccess(db, user, { modelIds, loras });
  const isUsable = (id: string) => access.usable.some((model) => model.model_id === id);
  const isAllowed = (name: string) => isLoraAllowed(loraNames, access, normalizeLoraName(name));
  return modelIds.every(isUsable) && loras.every(isAllowed) ? access.usable : undefined;
}

/** A name that the operator gave to all is everybody's. Any other that was registered is for those with a right to it. */
function isLoraAllowed(
  { names, allowsUnregistered: isOpen }: AllowedLoras,
  { usable, registered_loras: registered }: ModelAccess,
  name: string,
): boolean {
  if (names.has(name) || usable.some((model) => model.lora_name === name)) return true;
  return isOpen && !registered.includes(name);
}

export type ResolvedPlan = { plan: Job[]; warnings: string[] };

/** The plan with what the registry knows of its models: where each runs, and the word that calls it. */
export async function resolveModels(services: Dependencies, user: ResourceOwner, plan: Job[]): Promise<ResolvedPlan> {
  const models = await findUsableModels(services, user, plan);
  if (!models) throw new Fault("model_not_found");
  const resolved = plan.map((job) => {
    const model = models.find(({ model_id }) => model_id === modelIdOf(job));
    return model ? applyCustomModel(job, model) : { job, warnings: [] };
  });
  return {
    plan: resolved.map(({ job }) => job),
    warnings: [...new Set(resolved.flatMap(({ warnings: notes }) => notes))],
  };
}

function applyCustomModel(job: Job, model: UsableModel): { job: Job; warnings: string[] } {
  if (model.model_type !== job.model) {
    const message = `This model can only be used with model_type ${model.model_type}.`;
    throw new Fault("validation_error", { errors: [{ path: "/model_id", code: "unknown_value", message }] });
  }
  const withDeployment = { ...job, options: { ...job.options, deployment_id: model.deployment_id } };
  const word = model.trigger_word;
  if (word === null || job.prompt === undefined || containsWord(job.prompt, word))
    return { job: withDeployment, warnings: [] };
  return {
    job: { ...withDeployment, prompt: `${word}, ${job.prompt}` },
    warnings: [`The model's trigger word ${word} was added before the prompt.`],
  };
}

/** As a word of its own: `ink` does not stand in `drinking`. */
function containsWord(prompt: string, word: string): boolean {
  const part = "[\\p{L}\\p{N}_]";
  const literal = word.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`(?<!${part})${literal}(?!${part})`, "iu").test(prompt);
}

/**
 * Refuses a run whose right was taken away while it waited. What has been sent to a provider is seen through: it is paid
 * for, and stopping here would not take it back.
 */
export async function checkModels(
  services: Dependencies,
  run: ResourceOwner & { run_id: string; plan: Job[] },
): Promise<void> {
  if (await findUsableModels(services, run, run.plan)) return;
  if ((await listAttempts(services.db, run.run_id)).length === 0) throw new Fault("model_not_found");
}
