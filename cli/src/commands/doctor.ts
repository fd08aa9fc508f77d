// `gesso doctor`: whether settings, parts, providers and their keys are as they should be.
import { runDoctor } from "@gesso/dev/doctor";
import { Command } from "commander";

type Flags = { data: string; json?: boolean };

const EXAMPLES = `
Examples:
  gesso doctor                    check the configuration, dependencies and enabled providers
  FAL_KEY=... gesso doctor        test a provider key before you use it
  gesso doctor --json             the same for programs

Doctor sends no paid requests.
Exit code 1: at least one check failed.`;

export function doctorCommand(): Command {
  return new Command("doctor")
    .description("Check the configuration, the dependencies and every enabled provider.")
    .option("--data <directory>", "where gesso dev keeps everything", "./.gesso")
    .option("--json", "print one JSON object on standard output")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: Flags) => {
      process.exitCode = await runDoctor(flags);
    });
}
