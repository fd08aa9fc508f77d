// Judges what the caller asked for against the operation and the selected offers. Everything that is changed or ignored
// becomes a warning of the run, or a refusal with strict handling. Values that Gesso filled in are never reported.

import type { Job, ModelFacts, Operation, ParameterAdjustment } from "../../contract/operation.ts";
import type { ParsedInput } from "../../contract/parse.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { listJobParameters } from "../../contract/task-parameters.ts";
import { Fault } from "../../faults/faults.ts";
import { adjustParameters } from "../../providers/adjust-parameters.ts";
import type { Offer } from "../../providers/provider.ts";
import { listSources } from "../sources/source-files.ts";

/** Parameters that several fields of an operation set, always on behalf of the caller. */
const ALWAYS_REQUESTED = ["images", "mask", "masks", "count", "tags"];

/** The job with the names of the parameters that Gesso filled in. */
export function markDefaults(job: Job, provided: JsonObject): Job {
  const defaulted = listJobParameters(job).filter(
    (name) => provided[name] === undefined && !ALWAYS_REQUESTED.includes(name),
  );
  return defaulted.length > 0 ? { ...job, defaulted } : job;
}

type PlannedJob = { job: Job; offer: Offer };
/** `planAdjustments`: what was changed when the plan was completed. */
type JudgedPlan = {
  plan: PlannedJob[];
  planAdjustments?: ParameterAdjustment[];
  models: ModelFacts;
  isStrict: boolean;
};

export function judgeParameters(
  operation: Operation,
  parsed: ParsedInput,
  { plan, planAdjustments = [], models, isStrict }: JudgedPlan,
): ParameterAdjustment[] {
  const adjustments = [
    ...listOperationAdjustments(operation, parsed, models),
    ...listIgnoredOutputFields(
      operation,
      parsed,
      plan.map(({ job }) => job),
    ),
    ...planAdjustments,
    ...plan.flatMap(({ job, offer }) => adjustParameters(job, offer).changes),
  ];
  if (isStrict) refuseAdjustments(adjustments);
  return adjustments;
}

/** Fields that the operation ignores or changes, for every offer of the model. */
const listOperationAdjustments = (
  operation: Operation,
  { input, provided }: ParsedInput,
  models: ModelFacts,
): ParameterAdjustment[] => [
  ...(operation.unusedFields?.(input, provided, models) ?? []).map((field) => ({
    field,
    given: provided[field],
    message: `${field} is not used by this model.`,
  })),
  ...(operation.adjustments?.(input, provided, models) ?? []),
];

/** The fields that select an output of the named run, if another source takes precedence over that run. */
function listIgnoredOutputFields(
  operation: Operation,
  { input, provided }: ParsedInput,
  jobs: Job[],
): ParameterAdjustment[] {
  const { output_index: output, frame } = input;
  const run = operation.parent?.(input);
  const isUsed = jobs
    .flatMap(listSources)
    .some((source) => "run" in source && source.run === run && source.output === output && source.frame === frame);
  if (isUsed) return [];
  return ["output_index", "frame"]
    .filter((field) => provided[field] !== undefined)
    .map((field) => ({
      field,
      given: provided[field],
      message: `${field} is ignored: the source is not an output of a run.`,
    }));
}

/** Strict handling: a request that would be changed is refused. The errors name field, given and used value. */
export function refuseAdjustments(adjustments: ParameterAdjustment[]): void {
  if (adjustments.length === 0) return;
  throw new Fault("unsupported_parameter", {
    errors: adjustments.map(({ field, message, given, used }) => ({
      path: `/${field}`,
      code: "unsupported_parameter",
      message,
      ...(given !== undefined && { given }),
      ...(used !== undefined && { used }),
    })),
  });
}
