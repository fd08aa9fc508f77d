// `gesso admin create-key`: creates an API key at the database, for an operator who has lost all others. The other
// commands of the group are operations of the API.
import { createKey } from "@gesso/dev/create-key";
import { Command } from "commander";

type Flags = { name?: string; tenant?: string; data: string; json?: boolean };

const EXAMPLES = `
Examples:
  DATABASE_URL=postgres://... gesso admin create-key       on the machine of the server
  docker compose exec api gesso-server --role create-key   with Docker Compose
  gesso admin create-key                                   for the running gesso dev

It needs DATABASE_URL or DATABASE_URL_FILE, and no API key: access to the
database is the proof. The key has all rights of the tenant's owner; that of the
first tenant is also the operator's. The audit log of the tenant records it.
Exit code 1: no key was created.`;

export const adminCommand = (): Command =>
  new Command("admin").addCommand(
    new Command("create-key")
      .description("Create an API key at the database, after all others were lost (operator).")
      .option("--name <name>", "name of the key (default: Created at the database)")
      .option("--tenant <id>", "ID of the tenant (default: the first one)")
      .option("--json", "print one JSON object on standard output")
      .option("--data <directory>", "data directory of gesso dev", "./.gesso")
      .addHelpText("after", EXAMPLES)
      .action(async (flags: Flags) => {
        process.exitCode = await createKey(flags);
      }),
  );
