// The deprecated field `workflow_type` of images.generate, translated to `model_type`.
import type { FieldRule } from "../../contract/rules.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";

const MODEL_TYPES: Record<string, string> = { wan: "wan-image-2.1", "wan-image-2.2": "wan-image-2.2" };

const modelTypeOf = (raw: JsonObject) => MODEL_TYPES[String(raw.workflow_type)];

export const translateWorkflowType = (raw: JsonObject): JsonObject =>
  raw.model_type === undefined && modelTypeOf(raw) ? { ...raw, model_type: modelTypeOf(raw) } : raw;

export const workflowTypeRule: FieldRule = {
  description: "The deprecated workflow_type must not contradict model_type.",
  check: (input) =>
    modelTypeOf(input) === undefined || modelTypeOf(input) === input.model_type
      ? []
      : [
          {
            path: "/workflow_type",
            code: "unknown_value",
            message: `Contradicts model_type. It means ${modelTypeOf(input)}.`,
          },
        ],
  schema: {},
};
