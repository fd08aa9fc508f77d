import { cancelRun as cancel } from "../../../operations/runs/cancel.ts";
import { RUN_OUTPUT_SCHEMA } from "../run-answer.ts";
import { argumentsSchema, fieldsOf, type Tool } from "../tool.ts";

export const cancelRun: Tool = {
  name: "cancel_run",
  title: "Cancel a run",
  description: "Stop a run that is queued or in progress. Work that a provider has accepted may still be charged.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: argumentsSchema(fieldsOf(cancel, "run_id")),
  outputSchema: RUN_OUTPUT_SCHEMA,
  translate: (input) => ({ operation: cancel, input }),
};
