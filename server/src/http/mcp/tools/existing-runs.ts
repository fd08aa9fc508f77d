// Tools for runs that exist: list_runs shortens a page of runs.list for a model; get_run and cancel_run answer with the
// run.
import { z } from "zod";
import { promptOf } from "../../../contract/model-run.ts";
import { type JsonObject, Run, type RunPage } from "../../../contract/schemas/run.ts";
import { cancelRun } from "../../../operations/runs/cancel.ts";
import { getRun } from "../../../operations/runs/get.ts";
import { listRuns } from "../../../operations/runs/list.ts";
import { RUN_ANSWER_SCHEMA } from "../run-answer.ts";
import { argumentsSchema, contentSchema, fieldsOf, READS, type Tool } from "../tool.ts";

const MAX_PROMPT_CHARACTERS = 200;

const RunSummary = Run.pick({ run_id: true, status: true, operation: true, model: true, cost: true, created_at: true });
const RunSummaries = z.object({
  runs: z.array(RunSummary.extend({ prompt: z.string().nullable(), url: z.string().nullable() })),
  next_cursor: z.string().nullable(),
});

const summarize = ({ run_id, status, operation, model, cost, created_at, inputs, image_url, video_url }: Run) => ({
  ...{ run_id, status, operation, model, cost, created_at },
  prompt: promptOf(inputs)?.slice(0, MAX_PROMPT_CHARACTERS) ?? null,
  url: image_url ?? video_url,
});

export const listRunsTool: Tool = {
  name: "list_runs",
  title: "List runs",
  description: "List and search earlier runs, newest first.",
  annotations: READS,
  inputSchema: argumentsSchema(
    fieldsOf(
      listRuns,
      "q",
      "status",
      "run_type",
      "model",
      "starred",
      "tag",
      "created_after",
      "created_before",
      "limit",
      "cursor",
    ),
  ),
  outputSchema: contentSchema(RunSummaries),
  translate: (input) => ({ operation: listRuns, input }),
  answer(response) {
    const { data, next_cursor } = response as unknown as RunPage;
    const runs = data.map(summarize);
    const lines = runs.map(
      ({ run_id, status, operation, prompt, url }) =>
        `${run_id} ${status} ${operation}${prompt ? ` "${prompt.slice(0, 80)}"` : ""}${url ? ` ${url}` : ""}`,
    );
    const more = next_cursor ? "\nThere are more runs: call list_runs with cursor." : "";
    return {
      text: runs.length === 0 ? "No run matches." : `${lines.join("\n")}${more}`,
      content: { runs, next_cursor: next_cursor ?? null } as JsonObject,
    };
  },
};

/** Translates cancel_run to runs.cancel. */
export const cancelRunTool: Tool = {
  name: "cancel_run",
  title: "Cancel a run",
  description: "Stop a run that is queued or in progress. Work that a provider has accepted may still be charged.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: argumentsSchema(fieldsOf(cancelRun, "run_id")),
  outputSchema: RUN_ANSWER_SCHEMA,
  translate: (input) => ({ operation: cancelRun, input }),
};

/** Translates get_run to runs.get. The answer waits for the end of the run. */
export const getRunTool: Tool = {
  name: "get_run",
  title: "Get a run",
  description: "Wait up to 45 seconds for a run to end, and return its images, status and cost.",
  annotations: READS,
  inputSchema: argumentsSchema(fieldsOf(getRun, "run_id")),
  outputSchema: RUN_ANSWER_SCHEMA,
  translate: (input) => ({ operation: getRun, input }),
};
