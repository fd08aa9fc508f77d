// `npm run drill -- patroni --short`: starts one command of a group. Without a name it starts the default of the group,
// or prints what there is, as `--list` always does. The program runs in this process, so signals reach it.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Command, GROUPS, type Group } from "./list.ts";

function printCommands(groupName: string, { about, commands }: Group): void {
  const width = Math.max(...Object.keys(commands).map(({ length }) => length));
  console.log(`${about}\n\nnpm run ${groupName} -- <name> [parameters]\n`);
  for (const [name, command] of Object.entries(commands)) console.log(`  ${name.padEnd(width)}  ${command.about}`);
}

async function start({ program, shell }: Command, parameters: string[]): Promise<void> {
  if (program !== undefined) {
    process.argv = [process.execPath, resolve(program), ...parameters];
    await import(pathToFileURL(resolve(program)).href);
    return;
  }
  const child = spawn("sh", ["-c", `${shell} "$@"`, "sh", ...parameters], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  child.on("close", (code) => process.exit(code ?? 1));
}

const [groupName = "", ...given] = process.argv.slice(2);
const group = GROUPS[groupName];
if (group === undefined) throw new Error(`There is no group ${groupName}`);
const [first, ...rest] = given;
const isNamed = first !== undefined && !first.startsWith("-");
const name = isNamed ? first : group.default;
const command = name !== undefined && Object.hasOwn(group.commands, name) ? group.commands[name] : undefined;

if (first === "--list" || name === undefined) printCommands(groupName, group);
else if (command === undefined) {
  printCommands(groupName, group);
  console.error(`\nThere is no ${groupName} named ${name}.`);
  process.exit(1);
} else await start(command, isNamed ? rest : given);
