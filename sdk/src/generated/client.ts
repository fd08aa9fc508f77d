// Printed by `npm run generate` from the code; never edited by hand.
import type { Connection } from "../connection.ts";
import { type Edit, editOf } from "./edit.ts";
import { type Videos, videosOf } from "./videos.ts";
import { type Images, imagesOf } from "./images.ts";
import { type Prompts, promptsOf } from "./prompts.ts";
import { type Runs, runsOf } from "./runs.ts";

export type * from "./edit.ts";
export { editOf } from "./edit.ts";
export type * from "./videos.ts";
export { videosOf } from "./videos.ts";
export type * from "./images.ts";
export { imagesOf } from "./images.ts";
export type * from "./prompts.ts";
export { promptsOf } from "./prompts.ts";
export type * from "./runs.ts";
export { runsOf } from "./runs.ts";
export type * from "./shapes.ts";

/** Every operation, under its name in the interface. */
export type Operations = {
  edit: Edit;
  images: Images;
  prompts: Prompts;
  runs: Runs;
} & Videos;

/** All groups on one connection. */
export const operationsOf = (connection: Connection): Operations => ({
  edit: editOf(connection),
  images: imagesOf(connection),
  prompts: promptsOf(connection),
  runs: runsOf(connection),
  ...videosOf(connection),
});
