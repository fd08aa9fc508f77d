// Checks the list of campaigns: every module of the server is guarded by at least one, every guard exists, and every
// command starts a program that exists.
import { existsSync, readdirSync } from "node:fs";
import { CAMPAIGNS } from "./gate/campaign-list.ts";
import { isGuarded } from "./gate/changed-paths.ts";

const SOURCES = "server/src";

const listFolders = (path: string) =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [`${path}/${entry.name}`] : []));
/** The folders of `files` are modules of their own. */
const modules = listFolders(SOURCES).flatMap((path) => (path.endsWith("/files") ? listFolders(path) : [path]));
const guards = CAMPAIGNS.flatMap((campaign) => campaign.guards);
const problems = [
  ...modules
    .filter((path) => !isGuarded(path, guards))
    .map((path) => `${path}: no campaign guards it. Add it to one in scripts/gate/campaign-list.ts.`),
  ...CAMPAIGNS.flatMap(({ name, guards: own }) =>
    own.filter((path) => !existsSync(path)).map((path) => `${name}: guards ${path}, which does not exist`),
  ),
  ...CAMPAIGNS.flatMap(({ name, command }) =>
    command
      .filter((word) => word.endsWith(".ts") && !existsSync(word))
      .map((word) => `${name}: ${word} does not exist`),
  ),
];
for (const problem of problems) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
