// Custom models in runs: models and LoRAs that a job names are checked with the rights of the run's user, when the run
// is accepted and again when it starts. A missing model and a model without access return the same error.
import { z } from "zod";
import type { Job } from "../../contract/operation.ts";
import type { ResourceOwner } from "../../db/access/caller.ts";
import { listAttempts } from "../../db/attempts/attempt-history.ts";
import type { Database } from "../../db/connect.ts";
import {
  findModelAccess,
  type ModelAccess,
  normalizeLoraName,
  type UsableModel,
} from "../../db/library/custom-models.ts";
import { Fault } from "../../faults/faults.ts";
import { findOffers } from "../../providers/resolve-model.ts";
import type { OfferDependencies } from "../offers/select-offer.ts";

export const CustomModelsEnv = z.object({
  LORA_NAMES: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((name) => name.trim()))
    .describe("LoRAs that every tenant can use, comma-separated; * for all unregistered LoRAs. Default: none"),
});

/** LoRA names that every caller may use, and whether names that no tenant has registered are allowed too. */
export type AllowedLoras = { names: ReadonlySet<string>; allowsUnregistered: boolean };

export const parseAllowedLoras = ({ LORA_NAMES }: z.output<typeof CustomModelsEnv>): AllowedLoras => ({
  names: new Set(LORA_NAMES.filter((name) => name !== "" && name !== "*").map(normalizeLoraName)),
  allowsUnregistered: LORA_NAMES.includes("*"),
});

type Dependencies = { database: Database; loras: AllowedLoras };

const LORA_FIELDS = ["lora_low_name", "lora_high_name", "lora_1"];

const modelIdOf = ({ options }: Job) => options?.model_id as string | undefined;
const loraNamesIn = ({ options = {} }: Job) =>
  LORA_FIELDS.flatMap((field) => (options[field] as string | undefined) ?? []);

export const namesCustomModels = (job: Job): boolean => modelIdOf(job) !== undefined || loraNamesIn(job).length > 0;

/** Returns the models that the plan names, or undefined if the user may not use one of its models or LoRAs. */
async function findUsableModels(
  { database, loras: allowedLoras }: Dependencies,
  user: ResourceOwner,
  plan: Job[],
): Promise<UsableModel[] | undefined> {
  const modelIds = plan.flatMap((job) => modelIdOf(job) ?? []);
  const loras = plan.flatMap(loraNamesIn);
  if (modelIds.length === 0 && loras.length === 0) return [];
  const access = await findModelAccess(database, user, { modelIds, loras });
  const isUsable = (id: string) => access.usable.some((model) => model.model_id === id);
  const isAllowed = (name: string) => isLoraAllowed(allowedLoras, access, normalizeLoraName(name));
  return modelIds.every(isUsable) && loras.every(isAllowed) ? access.usable : undefined;
}

/**
 * LoRAs on the operator's list are allowed for all. A registered LoRA is allowed for tenants with access to its model.
 */
function isLoraAllowed(
  { names, allowsUnregistered }: AllowedLoras,
  { usable, registered_loras }: ModelAccess,
  name: string,
): boolean {
  if (names.has(name) || usable.some((model) => model.lora_name === name)) return true;
  return allowsUnregistered && !registered_loras.includes(name);
}

export type ResolvedPlan = { plan: Job[]; warnings: string[] };

/** Adds the deployment and the trigger word of registered models to the plan. Throws model_not_found without access. */
export async function resolveCustomModels(
  services: Dependencies & OfferDependencies,
  user: ResourceOwner,
  plan: Job[],
): Promise<ResolvedPlan> {
  const models = await findUsableModels(services, user, plan);
  if (!models) throw new Fault("model_not_found");
  // A request may name the model otherwise than the registry, such as by the provider's own name.
  const namesOf = (job: Job) => [
    job.model,
    ...findOffers(services.providers.enabled, job).map(({ offer }) => offer.model),
  ];
  const resolved = plan.map((job) => {
    const model = models.find(({ model_id }) => model_id === modelIdOf(job));
    return model ? applyCustomModel(job, model, namesOf) : { job, warnings: [] };
  });
  return {
    plan: resolved.map(({ job }) => job),
    warnings: [...new Set(resolved.flatMap(({ warnings }) => warnings))],
  };
}

function applyCustomModel(
  job: Job,
  model: UsableModel,
  namesOf: (job: Job) => string[],
): { job: Job; warnings: string[] } {
  if (!namesOf(job).includes(model.model_type)) {
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

/** Matches whole words only: `drinking` does not contain `ink`. */
function containsWord(prompt: string, word: string): boolean {
  const part = "[\\p{L}\\p{N}_]";
  const literal = word.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`(?<!${part})${literal}(?!${part})`, "iu").test(prompt);
}

/**
 * Fails a run whose access to a model was revoked while it was queued. A run with a submitted request continues,
 * because the provider charges for it in any case.
 */
export async function recheckCustomModels(
  services: Dependencies,
  run: ResourceOwner & { run_id: string; plan: Job[] },
): Promise<void> {
  if (await findUsableModels(services, run, run.plan)) return;
  if ((await listAttempts(services.database, run.run_id)).length === 0) throw new Fault("model_not_found");
}
