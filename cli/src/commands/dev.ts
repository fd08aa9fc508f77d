// `gesso dev`: runs Gesso and its dependencies on this machine, without Docker, accounts or provider keys.
import { dev } from "@gesso/dev/main";
import { Command, InvalidArgumentError } from "commander";

type Flags = {
  port?: number;
  data: string;
  ephemeral?: boolean;
  json?: boolean;
  providers?: string[];
  spendLimit?: number | null;
  yes?: boolean;
};

const EXAMPLES = `
Examples:
  gesso dev                          the sandbox alone: offline and free
  gesso dev --providers fal,openai   also fal and OpenAI, with the keys of this shell
  gesso dev --providers sandbox      the sandbox alone again
  gesso dev --spend-limit 20         spend at most 20 US dollars a month

Keys of providers in the environment are used only if --providers names the provider.`;

export function devCommand(): Command {
  return new Command("dev")
    .option("--port <number>", "port of the API (default: 7788, or the next free one)", parsePort)
    .option("--data <directory>", "data directory", "./.gesso")
    .option("--ephemeral", "use a temporary data directory and delete it on exit")
    .option(
      "--providers <list>",
      "providers to use besides the sandbox, comma-separated; remembered in the data directory",
      parseProviders,
    )
    .option(
      "--spend-limit <dollars>",
      "US dollars that the development tenant may spend per month, or none (default: 5)",
      parseSpendLimit,
    )
    .option("--yes", "install PostgreSQL and Restate without asking, if they are missing")
    .option("--json", "print one JSON object on standard output when ready")
    .addHelpText("after", EXAMPLES)
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

const parseProviders = (text: string): string[] =>
  text
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "" && id !== "none");

function parseSpendLimit(text: string): number | null {
  if (text === "none") return null;
  const dollars = Number(text);
  if (text.trim() === "" || !Number.isFinite(dollars) || dollars < 0) {
    throw new InvalidArgumentError("The limit must be an amount in US dollars, for example 20, or none.");
  }
  return dollars;
}
