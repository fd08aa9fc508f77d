// Builds the command tree for one command line. Only the named command is loaded; `gesso --help` and an unknown name
// show all commands, each with its line of the table.
import { Command, Help } from "commander";
import manifest from "../package.json" with { type: "json" };
import { COMMANDS, type CommandEntry, GROUPS } from "./command-table.ts";

// The Unix convention for usage errors; Commander's default is 1.
const USAGE = 2;

const createRoot = (): Command =>
  new Command("gesso")
    .description("Images and videos behind one HTTP API, on your own machine.")
    .version(manifest.version)
    .showHelpAfterError("Run gesso --help for the list of commands.")
    .configureHelp({ subcommandTerm })
    .addHelpCommand(
      new Command("help").argument("[command]").description("Show the options of a command.").helpGroup(GROUPS.account),
    )
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : USAGE));

/** The list of all commands shows names only, so that it fits a terminal; the list of a group shows arguments too. */
const subcommandTerm = (command: Command): string =>
  command.parent?.parent ? new Help().subcommandTerm(command) : command.name();

const loadCommand = async ({ load, description, group }: CommandEntry): Promise<Command> =>
  (await load()).description(description).helpGroup(group);

/** All commands with all their flags, for what is generated from them. */
export const createFullProgram = (): Promise<Command> => addAllCommands(createRoot(), loadCommand);

export async function createProgram(parameters: readonly string[]): Promise<Command> {
  const program = createRoot();
  const name = findCommandName(parameters);
  const entry = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry) {
    program.addCommand(await loadCommand(entry));
    if (entry.hasOperations) await addOperations(program, name);
  } else {
    const create = async ({ description, group }: CommandEntry, each: string) =>
      new Command(each).description(description).helpGroup(group);
    await addAllCommands(program, create, name);
  }
  inheritSettings(program);
  if (entry?.hasLateFlags) program.commands[0]!.helpOption(false).allowExcessArguments().allowUnknownOption();
  if (!entry) await suggestCommandOfOperation(program, parameters);
  return program;
}

/** The client's `images.generate` is `gesso generate`: `gesso images generate` says so. */
async function suggestCommandOfOperation(program: Command, parameters: readonly string[]): Promise<void> {
  const [group, name] = parameters.filter((each) => !each.startsWith("-"));
  const { NAMED_COMMANDS } = await import("./command-names.ts");
  const found = NAMED_COMMANDS.find(({ operations }) => operations[0]?.name === `${group}.${name}`);
  if (!found || found.command === `${group} ${name}`) return;
  program.commands
    .find((each) => each.name() === group)
    ?.showHelpAfterError(`Did you mean gesso ${found.command}? Run gesso ${group} --help for its commands.`);
}

/** A group that operations add to must exist before them. */
async function addAllCommands(
  program: Command,
  create: (entry: CommandEntry, name: string) => Promise<Command>,
  named?: string,
): Promise<Command> {
  const [before, after] = [true, false].map((isGroup) =>
    Object.entries(COMMANDS).filter(([, { hasOperations }]) => (hasOperations === true) === isGroup),
  );
  for (const [name, entry] of before ?? []) program.addCommand(await create(entry, name));
  await addOperations(program, named);
  for (const [name, entry] of after ?? []) program.addCommand(await create(entry, name));
  const order = Object.values<string>(GROUPS);
  (program.commands as Command[]).sort((a, b) => order.indexOf(a.helpGroup()) - order.indexOf(b.helpGroup()));
  return program;
}

/** Those of all operations, or only those that the command line names. */
const addOperations = async (program: Command, named?: string): Promise<void> =>
  (await import("./commands/operations.ts")).addOperationCommands(program, named);

/** The command that is run, or whose help is asked: `gesso help dev` names `dev`. */
const findCommandName = (parameters: readonly string[]): string | undefined =>
  parameters.filter((each) => !each.startsWith("-")).find((each, index) => index > 0 || each !== "help");

/** Commander does not pass the handling of errors to subcommands that were built before, so it is copied. */
function inheritSettings(parent: Command, path = "gesso"): void {
  for (const command of parent.commands) {
    const line = `${path} ${command.name()}`;
    command.copyInheritedSettings(parent).helpCommand(false);
    command.showHelpAfterError(
      `Run ${line} --help for ${command.commands.length > 0 ? "its commands" : "its options"}.`,
    );
    inheritSettings(command, line);
  }
}
