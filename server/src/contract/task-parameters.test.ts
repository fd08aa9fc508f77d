// The parameters of every task, compared with the plans of all operations: a new parameter of a plan fails here, and
// then in the declarations of all offers of its task.
import { expect, it } from "vitest";
import { LIP_SYNC } from "../../test/model-schemas/documents.ts";
import { listModelChoices, sampleFields } from "../../test/support/operation-inputs.ts";
import { builtInModelFacts } from "../../test/support/operation-plans.ts";
import { importModel } from "../models/import-model.ts";
import { operations } from "../operations/all.ts";
import { planModelRun } from "./model-run.ts";
import type { Job, Operation, Task } from "./operation.ts";
import { parseInput } from "./parse.ts";
import type { JsonObject } from "./schemas/run.ts";
import { listJobParameters, readJobParameter, TASK_PARAMETERS, withJobParameter } from "./task-parameters.ts";

/** Which parameters it has, only its schema says; files are sources as in any job. */
function planOfImportedModel(): Job {
  const imported = importModel("fal", "acme/lip-sync", LIP_SYNC);
  if ("refused" in imported) throw new Error(imported.refused);
  const input = { video_url: "https://example.com/a.mp4", audio_url: "https://example.com/a.wav" };
  return planModelRun({ ...imported.model, call_price: null }, input);
}

/** Inputs with all fields, and with all fields but one, for every model. */
function inputsOf(operation: Operation): JsonObject[] {
  const fields = sampleFields(operation);
  const { input } = parseInput(operation, { ...operation.example, ...operation.fixedValues });
  const whole = { ...input, ...Object.fromEntries(fields.map(({ name, sample }) => [name, sample])) };
  const lists = Array.isArray(input.images) ? { images: input.images } : {};
  const leftOut = [undefined, ...fields.filter(({ isRequired }) => !isRequired).map(({ name }) => name)];
  return [...listModelChoices(operation), {}].flatMap((choice) =>
    leftOut.map((left) => ({ ...whole, ...lists, ...choice, ...(left && { [left]: undefined }) })),
  );
}

const planned = new Map<Task, Set<string>>([["model.run", new Set(listJobParameters(planOfImportedModel()))]]);
for (const operation of operations.filter(({ plan }) => plan !== undefined)) {
  for (const input of inputsOf(operation)) {
    for (const job of operation.plan!(input, input, builtInModelFacts)) {
      const names = planned.get(job.task) ?? new Set();
      planned.set(job.task, names);
      for (const name of listJobParameters(job)) names.add(name);
    }
  }
}

it.each(Object.entries(TASK_PARAMETERS))("%s has exactly the parameters that plans can set", (task, names) => {
  expect([...(planned.get(task as Task) ?? [])].sort()).toEqual([...names].sort());
});

const job: Job = { task: "image.generate", model: "flux-dev", seed: 7, options: { model_id: "m", deployment_id: "d" } };

it("a parameter is read and set by name, wherever a job has it", () => {
  expect(listJobParameters(job)).toEqual(["seed", "model_id"]);
  expect(readJobParameter(withJobParameter(job, "seed", 8), "seed")).toBe(8);
  expect(readJobParameter(withJobParameter(job, "steps", 20), "steps")).toBe(20);
});

it("removing a parameter removes what was derived from it", () => {
  expect(withJobParameter(job, "seed", undefined)).not.toHaveProperty("seed");
  expect(withJobParameter(job, "model_id", undefined).options).toBeUndefined();
});
