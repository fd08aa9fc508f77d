// The name of a model in a request: refused with the nearest names if it means nothing here, and explained in a warning
// if another model than the named one does the work. For an imported model, its schema judges the input, before
// anything is stored or reserved.
import { findModelDefinition } from "../../contract/models.ts";
import type { ImportedModel, Job, Operation } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault } from "../../faults/faults.ts";
import { findNamedModel } from "../../providers/model-names.ts";
import { findNameProblem } from "../../providers/resolve-model.ts";
import type { OfferDependencies, ResolvedOffer } from "../offers/select-offer.ts";
import type { ImportedModels } from "./imported-models.ts";

const DEFAULT_FIELD = "model";

export type ImportedModelDependencies = { importedModels: ImportedModels };

/** The imported model of the tenant that the request names. Undefined for operations of the interface. */
export async function requireImportedModel(
  { importedModels }: ImportedModelDependencies,
  { usesImportedModel }: Operation,
  { model: name, input }: JsonObject,
  tenantId: string,
): Promise<ImportedModel | undefined> {
  if (!usesImportedModel) return undefined;
  const model = await importedModels.require(String(name), tenantId);
  importedModels.check(model, input as JsonObject);
  return model;
}

/** Throws if the request names a model that no job of its plan can mean. */
export function checkModelName(
  { providers }: OfferDependencies,
  { modelField = DEFAULT_FIELD, usesImportedModel }: Pick<Operation, "modelField" | "usesImportedModel">,
  input: JsonObject,
  plan: readonly Job[],
): void {
  if (usesImportedModel) return;
  const job = plan.find(({ model }) => model === input[modelField]);
  const message = job && findNameProblem(providers.enabled, job);
  if (message === undefined) return;
  throw new Fault("validation_error", { errors: [{ path: `/${modelField}`, code: "unknown_value", message }] });
}

/** For names whose own model its vendor no longer runs. The sandbox serves a name as itself. */
export function warnOfSuccessors(plan: { job: Job; resolved: ResolvedOffer }[]): string[] {
  const warnings = plan.flatMap(({ job, resolved: { enabledProvider, offer } }) => {
    const retired = findModelDefinition(job.model)?.retired;
    const successor = findNamedModel(enabledProvider.provider.id, offer.upstreamModel);
    if (!retired || !successor || successor.name === retired.name) return [];
    return [
      `${job.model} stands for ${retired.name}, which ended on ${retired.since}: ${successor.name} does the work.`,
    ];
  });
  return [...new Set(warnings)];
}
