// Translates list_runs to runs.list, and shortens its page for a model.
import { z } from "zod";
import { promptOf } from "../../../contract/model-run.ts";
import { type JsonObject, Run, type RunPage } from "../../../contract/schemas/run.ts";
import { listRuns } from "../../../operations/runs/list.ts";
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
