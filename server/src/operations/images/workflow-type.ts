// What the old field `workflow_type` of generate means in today's words.
import type { FieldRule } from "../../kit/rules.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";

const MEANS: Record<string, string> = { wan: "wan-image-2.1", "wan-image-2.2": "wan-image-2.2" };

const meant = (raw: JsonObject) => MEANS[String(raw.workflow_type)];

export const translateWorkflowType = (raw: JsonObject): JsonObject =>
  raw.model_type === undefined && meant(raw) ? { ...raw, model_type: meant(raw) } : raw;

export const workflowTypeRule: FieldRule = {
  description: "workflow_type, which is deprecated, must not contradict model_type.",
  check: (input) =>
    meant(input) === undefined || meant(input) === input.model_type
      ? []
      : [{ path: "/workflow_type", code: "unknown_value", message: `It means model_type ${meant(input)}.` }],
  schema: {},
};
