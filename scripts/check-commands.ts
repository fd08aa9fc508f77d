// Fails if a text or a program names a command that does not exist: every `npm run NAME`, in code quotes or at the
// beginning of a line, is a script of the root, and `npm run drill -- NAME` a command of its group. Every command has
// its program.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { findMistake, GROUPS } from "./commands/list.ts";

const MENTION =
  /(?:^|`|run: |RUN )npm run (?:-s |--silent )?(?<script>[a-z][a-z:-]*)(?: -- (?<name>[a-z][a-z-]*))?(?<rest>[^`\n]*)/gm;
const TEXT = /(\.(md|ts|tsx|yml|yaml|json|sh)|Dockerfile|\.ci\/run|\.env\.example)$/;

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const paths = execFileSync("git", ["ls-files"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => TEXT.test(path) && existsSync(path));

let mentions = 0;
const mistakes = Object.values(GROUPS).flatMap(({ commands }) =>
  Object.entries(commands).flatMap(([name, { program }]) =>
    program === undefined || existsSync(program) ? [] : [`${name}: there is no ${program}`],
  ),
);
for (const path of paths) {
  // A mention of a script of a workspace says so: `npm run dev -w console`.
  for (const { groups } of readFileSync(path, "utf8").matchAll(MENTION)) {
    if (/ -w /.test(groups?.rest ?? "")) continue;
    mentions++;
    const mistake = findMistake(groups?.script ?? "", groups?.name, Object.keys(scripts));
    if (mistake !== undefined) mistakes.push(`${path}: ${mistake}`);
  }
}

for (const mistake of mistakes) console.log(mistake);
console.log(`${paths.length} files, ${mentions} mentions of commands`);
if (mistakes.length > 0) process.exit(1);
