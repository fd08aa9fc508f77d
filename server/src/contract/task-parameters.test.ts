// The parameters of every task, compared with the plans of all operations: a new parameter of a plan fails here, and
// then in the declarations of all offers of its task.
import { expect, it } from "vitest";
import { z } from "zod";
import { operations } from "../operations/all.ts";
import type { Job, Operation, Task } from "./operation.ts";
import { parseInput } from "./parse.ts";
import type { JsonObject } from "./schemas/run.ts";
import { listJobParameters, readJobParameter, TASK_PARAMETERS, withJobParameter } from "./task-parameters.ts";

type Property = JsonObject & { enum?: unknown[]; type?: string; const?: unknown; minimum?: number; anyOf?: Property[] };

const URL = "https://example.com/a.png";
const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

/** A value of a field. Plans only pass values on, so that any value of its type will do. */
function sampleOf(name: string, { enum: choices, type, anyOf, const: only, minimum }: Property): unknown {
  if (only !== undefined) return only;
  if (choices) return choices.at(-1);
  if (anyOf) return sampleOf(name, anyOf[0]!);
  if (type === "array" && name === "images") return [{ image_reference: URL, tag: "hero" }, URL];
  if (type === "array") return [name.startsWith("run") ? RUN : URL];
  if (type === "boolean") return true;
  // A factor between those of image.upscale needs every job that can follow.
  if (name === "upscale_factor") return 1.5;
  if (type === "integer" || type === "number") return minimum ?? 1;
  return name.endsWith("ratio") ? "16:9" : name.endsWith("run_id") ? RUN : URL;
}

/** Inputs with all fields, and with all fields but one, for every model. */
function inputsOf(operation: Operation): JsonObject[] {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: "output", unrepresentable: "any" });
  const fields = Object.entries(properties as Record<string, Property>);
  const { input } = parseInput(operation, { ...operation.example, ...operation.fixedValues });
  const whole = { ...input, ...Object.fromEntries(fields.map(([name, property]) => [name, sampleOf(name, property)])) };
  const lists = Array.isArray(input.images) ? { images: input.images } : {};
  return fields
    .filter(([name]) => name === "model" || name === "model_type")
    .flatMap(([name, { enum: choices = [] }]) => choices.map((choice) => ({ [name]: choice })))
    .concat([{}])
    .flatMap((choice) =>
      [undefined, ...fields.map(([name]) => name).filter((name) => !required.includes(name))].map((left) => ({
        ...whole,
        ...lists,
        ...choice,
        ...(left && { [left]: undefined }),
      })),
    );
}

const planned = new Map<Task, Set<string>>();
for (const operation of operations.filter(({ plan }) => plan !== undefined)) {
  for (const input of inputsOf(operation)) {
    for (const job of operation.plan!(input, input)) {
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
