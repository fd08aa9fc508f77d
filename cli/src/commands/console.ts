// `gesso console`: prints a link that signs in to the console of a server on this machine, once and within a minute.
import { createConsoleLink } from "@gesso/dev/console-link";
import { Command } from "commander";
import { type ConnectionFlags, resolveConnection, withConnection } from "../connection.ts";
import { commandError, runCommand } from "../exit-codes.ts";

const EXAMPLES = `
Examples:
  gesso console                   print a sign-in link for the running gesso dev
  open "$(gesso console)"         open the console in a browser (Linux: xdg-open)

The link works once, within 60 seconds, on this machine. It does not contain the API key.
For a server on another machine, open its URL with /console and sign in with a key.`;

export function consoleCommand(): Command {
  return withConnection(new Command("console"))
    .addHelpText("after", EXAMPLES)
    .action(async (flags: ConnectionFlags) => {
      process.exitCode = await runCommand(
        "gesso console",
        () => resolveConnection(flags),
        async (connection) => {
          const link = await createConsoleLink(connection);
          if (link === undefined)
            throw commandError(
              "failed",
              `${connection.url} gave no link. It needs a server on this machine that has a console, and a valid API key.`,
            );
          process.stdout.write(`${link}\n`);
          return 0;
        },
      );
    });
}
