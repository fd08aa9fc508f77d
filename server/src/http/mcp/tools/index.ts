// All tools of the MCP server. The order is that of `tools/list`, and never changes between two calls.
import type { Tool } from "../tool.ts";
import { callOperationTool } from "./call-operation.ts";
import { describeOperationTool } from "./describe-operation.ts";
import { estimateTool } from "./estimate.ts";
import { cancelRunTool, getRunTool, listRunsTool } from "./existing-runs.ts";
import { listModelsTool } from "./list-models.ts";
import { RUN_TOOLS } from "./run-tools.ts";
import { showTreeTool } from "./show-tree.ts";

export const TOOLS: Tool[] = [
  ...RUN_TOOLS,
  ...[
    getRunTool,
    listRunsTool,
    showTreeTool,
    cancelRunTool,
    estimateTool,
    listModelsTool,
    callOperationTool,
    describeOperationTool,
  ],
];

export const findTool = (name: string): Tool | undefined => TOOLS.find((tool) => tool.name === name);
