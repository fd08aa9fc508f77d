// The tools that create runs, in the order in which clients list them.
import type { Tool } from "../tool.ts";
import { combineImages } from "./combine-images.ts";
import { cutOut } from "./cut-out.ts";
import { describeImage } from "./describe-image.ts";
import { editImage } from "./edit-image.ts";
import { erase } from "./erase.ts";
import { makeImage } from "./make-image.ts";
import { makeVideo } from "./make-video.ts";
import { reframe } from "./reframe.ts";

export const RUN_TOOLS: Tool[] = [
  ...[makeImage, editImage, cutOut, erase, reframe, combineImages, makeVideo, describeImage],
];
