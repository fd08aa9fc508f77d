// `gesso dev`: runs Gesso and its dependencies on this machine, without Docker, accounts or provider keys.
import { dev } from "@gesso/dev/main";
import { Command, InvalidArgumentError } from "commander";

type Flags = { port?: number; data: string; ephemeral?: boolean; json?: boolean };

export function devCommand(): Command {
  return new Command("dev")
    .option("--port <number>", "port of the API (default: 7788, or the next free one)", parsePort)
    .option("--data <directory>", "data directory", "./.gesso")
    .option("--ephemeral", "use a temporary data directory and delete it on exit")
    .option("--json", "print one JSON object on standard output when ready")
    .action(async (flags: Flags) => {
      process.exit(await dev(flags));
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new InvalidArgumentError("The port must be an integer from 1 to 65535.");
  }
  return port;
}
