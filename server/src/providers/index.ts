// Every provider there is. To add one: write its file, add its line.
export { localModels } from "./local/models.ts";
export { local } from "./local.ts";
export { sandbox } from "./sandbox.ts";
