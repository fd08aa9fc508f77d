// Translates get_run to runs.get. The answer waits for the end of the run.
import { getRun } from "../../../operations/runs/get.ts";
import { RUN_ANSWER_SCHEMA } from "../run-answer.ts";
import { argumentsSchema, fieldsOf, READS, type Tool } from "../tool.ts";

export const getRunTool: Tool = {
  name: "get_run",
  title: "Get a run",
  description: "Wait up to 45 seconds for a run to end, and return its images, status and cost.",
  annotations: READS,
  inputSchema: argumentsSchema(fieldsOf(getRun, "run_id")),
  outputSchema: RUN_ANSWER_SCHEMA,
  translate: (input) => ({ operation: getRun, input }),
};
