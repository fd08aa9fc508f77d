// All tools of the MCP server. The order is that of `tools/list`, and never changes between two calls.
import type { Tool } from "../tool.ts";
import { callOperation } from "./call-operation.ts";
import { cancelRun } from "./cancel-run.ts";
import { describeOperation } from "./describe-operation.ts";
import { estimate } from "./estimate.ts";
import { getRun } from "./get-run.ts";
import { listModels } from "./list-models.ts";
import { listRuns } from "./list-runs.ts";
import { RUN_TOOLS } from "./run-tools.ts";
import { showTree } from "./show-tree.ts";

export const TOOLS: Tool[] = [
  ...RUN_TOOLS,
  ...[getRun, listRuns, showTree, cancelRun, estimate, listModels, callOperation, describeOperation],
];

export const findTool = (name: string): Tool | undefined => TOOLS.find((tool) => tool.name === name);
