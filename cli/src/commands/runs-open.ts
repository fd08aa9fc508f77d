// `gesso runs open`: opens the page of a run in the console. Without a terminal it prints the URL.
import { Command } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { EXIT_CODES, runCommand } from "../exit-codes.ts";
import { parseRunArgument } from "../image-argument.ts";
import { openTarget } from "../open-target.ts";
import { isUnattended, writeData } from "../output/terminal.ts";

export function openCommand(): Command {
  const command = new Command("open")
    .description("Open the page of a run in the console. Without a terminal, print its URL.")
    .argument("<run_id>", "ID of the run, or - to read it from standard input");
  return withConnection(command).action(async (run: string, flags: ConnectionFlags) => {
    process.exitCode = await runCommand(
      "gesso runs open",
      () => resolveConnection(flags),
      async (connection) => {
        const { run_id } = await createCliClient(connection).runs.get(await parseRunArgument(run));
        const url = `${connection.url}/console/runs/${run_id}`;
        writeData(url);
        if (!isUnattended()) openTarget(url);
        return EXIT_CODES.ok;
      },
    );
  });
}
