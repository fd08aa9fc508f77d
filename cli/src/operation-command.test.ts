import { Command } from "commander";
import { expect, it } from "vitest";
import { commandExample } from "./command-example.ts";
import { commandOf, HAND_WRITTEN } from "./command-names.ts";
import { modelsCommand } from "./commands/models.ts";
import { addOperationCommands, listOperationCommands } from "./commands/operations.ts";
import { providersCommand } from "./commands/providers.ts";
import { modelRunCommand } from "./commands/run.ts";
import { triggerCommand } from "./commands/webhooks/trigger.ts";
import { flagOf } from "./field-flags.ts";
import { OPERATIONS } from "./operations.ts";

function createProgram(): Command {
  const program = new Command("gesso")
    .addCommand(new Command("webhooks").addCommand(triggerCommand()))
    .addCommand(modelsCommand())
    .addCommand(modelRunCommand())
    .addCommand(providersCommand());
  addOperationCommands(program);
  return program;
}

function findCommand(program: Command, words: string): Command | undefined {
  let found: Command | undefined = program;
  for (const word of words.split(" ")) found = found?.commands.find((each) => each.name() === word);
  return found;
}

function renderHelp(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 300 });
  command.outputHelp();
  return text;
}

it("reaches every operation of the API by a command", () => {
  const program = createProgram();
  const unreachable = OPERATIONS.filter(({ name }) => findCommand(program, commandOf(name)) === undefined);
  expect(unreachable.map(({ name }) => name)).toEqual([]);
});

it("[CLI-2] has a flag for every field of every operation that creates a run, and an example in its help", () => {
  const program = createProgram();
  // The flags of `gesso run` come from the schema of the model.
  const runOperations = OPERATIONS.filter(({ kind, name }) => kind === "run" && HAND_WRITTEN[name] === undefined);
  expect(runOperations.length).toBeGreaterThanOrEqual(22);
  for (const { name, fields, pathFields = [] } of runOperations) {
    const command = findCommand(program, commandOf(name))!;
    const flags = command.options.map(({ long }) => long);
    const named = fields.filter((field) => !pathFields.includes(field.name)).map((field) => flagOf(field.name));
    expect([name, named.filter((flag) => !flags.includes(flag))]).toEqual([name, []]);
    const spec = listOperationCommands().find((each) =>
      each.operations.some(({ operation }) => operation.name === name),
    )!;
    const own = spec.operations.find(({ operation }) => operation.name === name)!;
    expect(renderHelp(command)).toContain(commandExample(spec, own));
  }
});

it("has no two commands with one name", () => {
  const commands = listOperationCommands().map(({ command }) => command);
  expect(commands.filter((each, index) => commands.indexOf(each) !== index)).toEqual([]);
});

it("offers a field that has the name of a connection flag under another name", () => {
  const flags = findCommand(createProgram(), "webhooks update")!.options.map(({ long }) => long);
  expect(flags).toContain("--set-url");
});
