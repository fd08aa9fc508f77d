// Builds the command tree for one command line. Only the named command is loaded; `gesso --help` and an unknown name
// show all commands, each with its line of the table.
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { COMMANDS, type CommandEntry } from "./command-table.ts";

// The Unix convention for usage errors; Commander's default is 1.
const USAGE = 2;

const createRoot = (): Command =>
  new Command("gesso")
    .description("Images and videos behind one HTTP API, on your own machine.")
    .version(manifest.version)
    .showHelpAfterError("Run gesso --help for the list of commands.")
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : USAGE));

const loadCommand = async ({ load, description, group }: CommandEntry): Promise<Command> =>
  (await load()).description(description).helpGroup(group);

/** All commands with all their flags, for what is generated from them. */
export async function createFullProgram(): Promise<Command> {
  const program = createRoot();
  for (const entry of Object.values(COMMANDS))
    program.addCommand(await loadCommand(entry), { hidden: entry.isHidden === true });
  (await import("./commands/operations.ts")).addOperationCommands(program);
  return program;
}

export async function createProgram(parameters: readonly string[]): Promise<Command> {
  const program = createRoot();
  const name = findCommandName(parameters);
  const entry = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry) {
    program.addCommand(await loadCommand(entry), { hidden: entry.isHidden === true });
  } else {
    for (const [each, { description, group, isHidden }] of Object.entries(COMMANDS))
      program.addCommand(new Command(each).description(description).helpGroup(group), { hidden: isHidden === true });
  }
  // A group such as `webhooks` has commands by hand and commands of operations.
  if (!entry || name === "webhooks") (await import("./commands/operations.ts")).addOperationCommands(program, name);
  inheritSettings(program);
  return program;
}

/** The command that is run, or whose help is asked: `gesso help dev` names `dev`. */
const findCommandName = (parameters: readonly string[]): string | undefined =>
  parameters.filter((each) => !each.startsWith("-")).find((each, index) => index > 0 || each !== "help");

/** Commander does not pass the handling of errors to subcommands that were built before, so it is copied. */
function inheritSettings(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inheritSettings(command);
  }
}
