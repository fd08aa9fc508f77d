import { getRun as readRun } from "../../../operations/runs/get.ts";
import { RUN_OUTPUT_SCHEMA } from "../run-answer.ts";
import { argumentsSchema, fieldsOf, READS, type Tool } from "../tool.ts";

export const getRun: Tool = {
  name: "get_run",
  title: "Get a run",
  description: "Wait up to 45 seconds for a run to end, and return its images, status and cost.",
  annotations: READS,
  inputSchema: argumentsSchema(fieldsOf(readRun, "run_id")),
  outputSchema: RUN_OUTPUT_SCHEMA,
  translate: (input) => ({ operation: readRun, input }),
};
