// The tools that create runs, in the order in which clients list them.
import type { Tool } from "../tool.ts";
import { combineImagesTool } from "./combine-images.ts";
import { cutOutTool } from "./cut-out.ts";
import { describeImageTool } from "./describe-image.ts";
import { editImageTool } from "./edit-image.ts";
import { eraseTool } from "./erase.ts";
import { makeImageTool } from "./make-image.ts";
import { makeVideoTool } from "./make-video.ts";
import { reframeTool } from "./reframe.ts";

export const RUN_TOOLS: Tool[] = [
  ...[
    makeImageTool,
    editImageTool,
    cutOutTool,
    eraseTool,
    reframeTool,
    combineImagesTool,
    makeVideoTool,
    describeImageTool,
  ],
];
