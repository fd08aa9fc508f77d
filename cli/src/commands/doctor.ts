// `gesso doctor`: checks settings, dependencies, providers and their keys.
import { runDoctor } from "@gesso/dev/doctor";
import { Command } from "commander";

type Flags = { data: string; json?: boolean };

const EXAMPLES = `
Examples:
  gesso doctor                    check the configuration, dependencies and enabled providers
  gesso doctor --json             print the results as JSON

Doctor sends no paid requests.
Exit code 1: at least one check failed.`;

export function doctorCommand(): Command {
  return new Command("doctor")
    .option("--data <directory>", "data directory of gesso dev", "./.gesso")
    .option("--json", "print one JSON object on standard output")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: Flags) => {
      process.exitCode = await runDoctor(flags);
    });
}
