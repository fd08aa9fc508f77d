// The commands of all operations of the API, generated from the contract, and those written by hand beside them. This
// file is only loaded for these commands and for the list of all commands.
import { Command } from "commander";
import { commandOf, GROUP_DESCRIPTIONS, HAND_WRITTEN, NAMED_COMMANDS } from "../command-names.ts";
import type { OperationCommandSpec } from "../command-spec.ts";
import { GROUPS } from "../command-table.ts";
import { buildOperationCommand } from "../operation-command.ts";
import { type CliOperation, findCliOperation, OPERATIONS } from "../operations.ts";
import { printOperation } from "../print-operation.ts";
import { addOutputFlags, addRetryFlag, addRunFlags } from "../run-flags.ts";
import { runOperation } from "../runs/run-operation.ts";
import { callCommand } from "./call.ts";
import { filesCommand } from "./files.ts";
import { openCommand } from "./runs-open.ts";
import { watchCommand } from "./runs-watch.ts";

/** One command for each operation, or for several operations of the same task. */
export function listOperationCommands(): OperationCommandSpec[] {
  const named = NAMED_COMMANDS.map(({ operations, ...named }) => ({
    ...named,
    operations: operations.map(({ name, model }) => ({ operation: findCliOperation(name)!, ...(model && { model }) })),
  }));
  const covered = new Set([
    ...Object.keys(HAND_WRITTEN),
    ...named.flatMap(({ operations }) => operations.map(({ operation }) => operation.name)),
  ]);
  const others = OPERATIONS.filter(({ name }) => !covered.has(name)).map((operation) => ({
    command: commandOf(operation.name),
    positionals: [],
    operations: [{ operation }],
  }));
  return [...named, ...others].map((spec) => ({
    ...spec,
    positionals: [...(spec.operations[0]!.operation.pathFields ?? []), ...spec.positionals],
  }));
}

/**
 * Adds the commands to the program; with `name`, only the command or the group of that name. A group that the program
 * already has gets more commands.
 */
export function addOperationCommands(program: Command, name?: string): void {
  const all = listOperationCommands();
  const named = all.filter(({ command }) => command.split(" ")[0] === name);
  for (const spec of named.length > 0 ? named : all) {
    const isRun = spec.operations[0]!.operation.kind === "run";
    const words = spec.command.split(" ");
    const parent = findGroup(program, words.slice(0, -1));
    const command = buildOperationCommand(spec, addFlags, isRun ? runOperation : printOperation);
    parent.addCommand(parent === program ? command.helpGroup(isRun ? GROUPS.images : GROUPS.resources) : command);
  }
  if (named.length > 0 && name !== "runs") return;
  findGroup(program, ["runs"]).addCommand(watchCommand()).addCommand(openCommand());
  for (const command of [filesCommand(), callCommand()]) program.addCommand(command.helpGroup(GROUPS.resources));
}

function addFlags(command: Command, operation: CliOperation): void {
  if (operation.kind === "run") addRunFlags(command);
  else addOutputFlags(command);
  if (operation.kind === "change" && operation.method === "POST") addRetryFlag(command);
}

function findGroup(parent: Command, [word, ...rest]: string[]): Command {
  if (word === undefined) return parent;
  const known = parent.commands.find((each) => each.name() === word);
  const isTop = parent.parent === null && parent.name() === "gesso";
  const group = known ?? new Command(word).description(GROUP_DESCRIPTIONS[word] ?? `Manage ${word}.`);
  if (!known) parent.addCommand(isTop ? group.helpGroup(GROUPS.resources) : group);
  return findGroup(group, rest);
}
