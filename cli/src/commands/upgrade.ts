// `gesso upgrade check`: checks whether the installed version can replace the one that runs on the database.
import { runUpgradeCheck } from "@gesso/dev/doctor";
import { Command } from "commander";

type Flags = { data: string; json?: boolean };

const EXAMPLES = `
Examples:
  DATABASE_URL=... GESSO_SECRET=... gesso upgrade check     before you start the new version
  gesso upgrade check --json                                print the results as JSON

Run it with the program of the new version and the settings of the server. It changes nothing.
Exit code 1: do not upgrade.`;

export const upgradeCommand = (): Command =>
  new Command("upgrade").addCommand(
    new Command("check")
      .description("Check migrations, rollback, long transactions, open runs and worker versions.")
      .option("--json", "print one JSON object on standard output")
      .option("--data <directory>", "data directory of gesso dev", "./.gesso")
      .addHelpText("after", EXAMPLES)
      .action(async (flags: Flags) => {
        process.exitCode = await runUpgradeCheck(flags);
      }),
  );
