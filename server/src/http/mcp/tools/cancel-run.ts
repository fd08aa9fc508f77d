// Translates cancel_run to runs.cancel.
import { cancelRun } from "../../../operations/runs/cancel.ts";
import { RUN_ANSWER_SCHEMA } from "../run-answer.ts";
import { argumentsSchema, fieldsOf, type Tool } from "../tool.ts";

export const cancelRunTool: Tool = {
  name: "cancel_run",
  title: "Cancel a run",
  description: "Stop a run that is queued or in progress. Work that a provider has accepted may still be charged.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: argumentsSchema(fieldsOf(cancelRun, "run_id")),
  outputSchema: RUN_ANSWER_SCHEMA,
  translate: (input) => ({ operation: cancelRun, input }),
};
