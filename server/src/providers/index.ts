// Every provider there is. To add one: write its file, add its line.
export { sandbox } from "./sandbox.ts";
