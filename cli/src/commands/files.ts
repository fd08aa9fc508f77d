// `gesso files get`: writes the files of a run that has ended.
import { Command } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { commandError, runCommand } from "../exit-codes.ts";
import { parseRunArgument } from "../image-argument.ts";
import { selectOutputMode } from "../output/terminal.ts";
import { addFileFlags, addOutputFlags, type RunFlags } from "../run-flags.ts";
import { printEndedRun } from "../runs/print-run.ts";
import { checkOutputTargets } from "../runs/save-outputs.ts";

type Flags = ConnectionFlags & RunFlags;

const EXAMPLES = `
Examples:
  gesso files get 01990c3e-2f00-7000-8000-6f0c1a2b3c4d
  gesso files get 01990c3e-2f00-7000-8000-6f0c1a2b3c4d -o out/%id-%n.png`;

export function filesCommand(): Command {
  const get = new Command("get")
    .description("Write the files of a run.")
    .argument("<run_id>", "ID of the run, or - to read it from standard input");
  withConnection(addOutputFlags(addFileFlags(get)).optionsGroup("Connection:"))
    .addHelpText("after", EXAMPLES)
    .action(async (run: string, flags: Flags) => {
      process.exitCode = await runCommand(
        "gesso files get",
        () => resolveConnection(flags),
        async (connection) => {
          const own = { ...flags, output: flags.output ?? "%id" };
          checkOutputTargets(own);
          const found = await createCliClient(connection).runs.get(await parseRunArgument(run));
          if (found.outputs.length === 0) throw commandError("missing", `The run ${found.run_id} has no files.`);
          return printEndedRun(found, { flags: own, command: "gesso files get", mode: selectOutputMode(flags) });
        },
      );
    });
  return new Command("files").description("Download the files of runs.").addCommand(get);
}
