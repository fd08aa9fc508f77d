// `gesso doctor`: whether settings, parts, providers and their keys are as they should be.
import { doctor } from "@gesso/dev/doctor";
import { Command } from "commander";

type Flags = { data: string; json?: boolean };

const EXAMPLES = `
Examples:
  gesso doctor                    look at everything that is switched on here
  FAL_KEY=... gesso doctor        try a key before it is used
  gesso doctor --json             the same for programs

Only questions that cost nothing are asked.
Exit code 1 means that something that is switched on does not work.`;

export function doctorCommand(): Command {
  return new Command("doctor")
    .description("Ask every provider that is switched on whether its key and its models work.")
    .option("--data <directory>", "where gesso dev keeps everything", "./.gesso")
    .option("--json", "print one JSON object on standard output")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: Flags) => {
      process.exitCode = await doctor(flags);
    });
}
