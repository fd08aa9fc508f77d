// `gesso config print`: shows the settings that the server would start with, and where each value comes from.
import { printConfig } from "@gesso/dev/print-config";
import { Command } from "commander";

type Flags = { data: string; sources?: boolean; json?: boolean };

const EXAMPLES = `
Examples:
  gesso config print                      one setting per line, as in an env file
  gesso config print --sources            also where each value comes from
  gesso config print --json | jq '.settings[] | select(.source != "default")'

Sources: default, environment, gesso dev (the settings of a running gesso dev), and the path of gesso.yaml.
Secrets are never printed.
Exit code 1: the server would refuse a value.`;

export const configCommand = (): Command =>
  new Command("config").addCommand(
    new Command("print")
      .description("Print every setting of the server, without secrets.")
      .option("--sources", "also print where each value comes from")
      .option("--json", "print one JSON object on standard output")
      .option("--data <directory>", "data directory of gesso dev", "./.gesso")
      .addHelpText("after", EXAMPLES)
      .action(async (flags: Flags) => {
        process.exitCode = await printConfig(flags);
      }),
  );
