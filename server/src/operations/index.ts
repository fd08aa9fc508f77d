// Every operation there is. To add one: write its file, add its line.
export { generateImage } from "./images/generate.ts";
export { uploadImage } from "./images/upload.ts";
export { uploadMask } from "./images/upload-mask.ts";
export { cancelRun } from "./runs/cancel.ts";
export { deleteRun } from "./runs/delete.ts";
export { getRun } from "./runs/get.ts";
export { listRuns } from "./runs/list.ts";
