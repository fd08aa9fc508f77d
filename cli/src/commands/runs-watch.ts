// `gesso runs watch`: the events of a run until it ends, or of all runs. A restart of the server loses no event.
import { Command } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { runCommand } from "../exit-codes.ts";
import { parseRunArgument } from "../image-argument.ts";
import { type OutputFlags, selectOutputMode } from "../output/terminal.ts";
import { addOutputFlags } from "../run-flags.ts";
import { printEvents } from "../runs/print-events.ts";

const EXAMPLES = `
Examples:
  gesso runs watch 01990c3e-2f00-7000-8000-6f0c1a2b3c4d
  gesso generate 'a red bicycle' --no-wait -q | gesso runs watch -
  gesso runs watch                       events of all runs, until Ctrl-C

Exit code 1: the run failed or was canceled.`;

type Flags = ConnectionFlags & OutputFlags & { after?: string };

export function watchCommand(): Command {
  const command = new Command("watch")
    .description("Print the events of a run until it ends, or of all runs.")
    .argument("[run_id]", "ID of the run, or - to read it from standard input")
    .option("--after <id>", "only events after this event");
  return withConnection(addOutputFlags(command).optionsGroup("Connection:"))
    .addHelpText("after", EXAMPLES)
    .action(async (run: string | undefined, flags: Flags) => {
      process.exitCode = await runCommand(
        "gesso runs watch",
        () => resolveConnection(flags),
        async (connection) => {
          const client = createCliClient(connection);
          const input = flags.after === undefined ? {} : { after: flags.after };
          const events =
            run === undefined ? client.events.stream(input) : client.runs.events(await parseRunArgument(run), input);
          return printEvents(events, selectOutputMode(flags));
        },
      );
    });
}
