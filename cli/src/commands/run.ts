// `gesso run`: runs an imported model. Its flags are known only when the server has told the schema of the model, so
// the command line is read twice: for the name of the model and the connection, and then with the flags of the model.
import { Command } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection } from "../connection.ts";
import { runCommand } from "../exit-codes.ts";
import { getModel } from "../models/get-model.ts";
import { addModelRunFlags } from "../models/run-model-command.ts";

const EXAMPLES = `
Examples:
  gesso run veo-fast --help                    the flags of this model
  gesso run veo-fast --prompt 'a boat lands' -o boat.mp4
  gesso run veo-fast -i prompt='a boat lands' -i duration=8s
  gesso run replicate:acme/draw --input input.json --max-cost 0.50

A file is a path, a URL, or the ID of a run. gesso models search lists the
models, and gesso models add adds one (operator).`;

export function modelRunCommand(): Command {
  const command = new Command("run")
    .usage("<model> [options]")
    .argument("[model]", "name of an imported model, such as fal:fal-ai/veo3.1/fast, or an alias");
  addModelRunFlags(command);
  command.addHelpText("after", EXAMPLES);
  return command.action(async (name: string | undefined, flags: ConnectionFlags) => {
    const given = parametersOf(process.argv.slice(2));
    if (name === undefined || name.startsWith("-")) return withoutModel(command, given);
    const at = given.indexOf(name);
    const own = [...given.slice(0, at), ...given.slice(at + 1)];
    process.exitCode = await runCommand(
      "gesso run",
      () => resolveConnection(flags),
      async (connection) => {
        const model = await getModel(createCliClient(connection), name);
        const { buildModelCommand } = await import("../models/run-model.ts");
        const modelCommand = buildModelCommand(model);
        modelCommand.copyInheritedSettings(command.parent ?? command);
        modelCommand.showHelpAfterError(`Run gesso run ${name} --help for its options.`);
        await modelCommand.parseAsync(own, { from: "user" });
        return Number(process.exitCode ?? 0);
      },
    );
  });
}

const parametersOf = (parameters: string[]): string[] => parameters.slice(parameters.indexOf("run") + 1);

function withoutModel(command: Command, given: string[]): void {
  if (given.includes("--help") || given.includes("-h")) command.help();
  command.error(
    given.length === 0 ? "error: missing required argument 'model'" : "error: write the name of the model first",
  );
}
