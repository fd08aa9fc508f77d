// The program `gesso`: parses the command line and runs one command. Each command is a file in commands/.
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { consoleCommand } from "./commands/console.ts";
import { devCommand } from "./commands/dev.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { webhooksCommand } from "./commands/webhooks.ts";

// The Unix convention for usage errors; Commander's default is 1.
const USAGE = 2;

const program = new Command("gesso")
  .description("Images and videos behind one HTTP API, on your own machine.")
  .version(manifest.version)
  .showHelpAfterError("Run gesso --help for the list of commands.")
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : USAGE));

const commands = [devCommand(), consoleCommand(), doctorCommand(), webhooksCommand(program)];
for (const command of commands) program.addCommand(command.copyInheritedSettings(program));

await program.parseAsync();
