// Runs as resources: `gesso://runs/{run_id}` is the run as JSON, and `gesso://runs/{run_id}/preview` its small image.
// The newest runs are listed, so that people can pick one in their client.
import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { authorize, mayCall } from "../../access/scopes.ts";
import { promptOf } from "../../contract/model-run.ts";
import { Fault } from "../../faults/faults.ts";
import { getRun } from "../../operations/runs/get.ts";
import { listRuns } from "../../operations/runs/list.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import { renderRun } from "../../runs/show/render-run.ts";
import { type Call, createRequestContext } from "../pipeline.ts";
import type { McpServices } from "./call-tool.ts";
import { PREVIEW_TYPE, readPreview } from "./run-answer.ts";

const LISTED_RUNS = 20;
const MAX_TITLE_CHARACTERS = 80;
/** Of a URI that an error repeats. */
const MAX_URI_CHARACTERS = 200;
const RUN_URI = /^gesso:\/\/runs\/([0-9a-f-]{36})(\/preview)?$/i;

export const RESOURCE_TEMPLATES: ListResourceTemplatesResult["resourceTemplates"] = [
  {
    ...{ name: "run", title: "Run", uriTemplate: "gesso://runs/{run_id}", mimeType: "application/json" },
    description: "A run with its inputs, files, status and cost",
  },
  {
    ...{ name: "preview", title: "Preview of a run", uriTemplate: "gesso://runs/{run_id}/preview" },
    ...{ mimeType: PREVIEW_TYPE, description: "The first image of a run, at most 320 pixels wide and high" },
  },
];

export async function listResources(services: McpServices, call: Call): Promise<ListResourcesResult> {
  if (!mayCall(call.caller, listRuns)) return { resources: [] };
  const { data } = await listRuns.handle(
    { limit: LISTED_RUNS },
    createRequestContext(services, call, listRuns),
    services.runs,
  );
  return {
    resources: data.map(({ run_id, operation, inputs }) => ({
      ...{ uri: `gesso://runs/${run_id}`, name: run_id, mimeType: "application/json" },
      title: (promptOf(inputs) ?? operation).slice(0, MAX_TITLE_CHARACTERS),
    })),
  };
}

export async function readResource(services: McpServices, call: Call, uri: string): Promise<ReadResourceResult> {
  const [, runId, isPreview] = RUN_URI.exec(uri) ?? [];
  if (!runId) throw new ResourceNotFoundError(uri.slice(0, MAX_URI_CHARACTERS));
  authorize(call.caller, getRun);
  const request = createRequestContext(services, call, getRun);
  const row = await requireOwnRun(request, runId).catch((thrown) => {
    const isMissing = thrown instanceof Fault && (thrown.status === 404 || thrown.status === 410);
    throw isMissing ? new ResourceNotFoundError(uri) : thrown;
  });
  const scoped = { ...services.runs, database: request.database };
  if (!isPreview) {
    const text = JSON.stringify(renderRun(scoped, row));
    return { contents: [{ uri, mimeType: "application/json", text }] };
  }
  const preview = row.result?.outputs.find(({ thumbnails }) => thumbnails)?.thumbnails?.small;
  const blob = preview && (await readPreview(scoped, preview));
  if (!blob) throw new ResourceNotFoundError(uri);
  return { contents: [{ uri, mimeType: PREVIEW_TYPE, blob }] };
}
