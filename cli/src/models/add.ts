// `gesso models add`: imports a model from what its provider publishes about it, and shows what Gesso understood.
import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { commandError, runCommand } from "../exit-codes.ts";
import { type OutputFlags, paint, selectOutputMode, writeNote } from "../output/terminal.ts";
import { addOutputFlags } from "../run-flags.ts";
import { refusePlainly } from "./get-model.ts";
import { printModel } from "./show.ts";

type Flags = ConnectionFlags &
  OutputFlags & { alias?: string[]; price?: number; document?: string; tenant?: string[]; allTenants?: boolean };

const EXAMPLES = `
Examples:
  gesso models add fal:fal-ai/veo3.1/fast
  gesso models add fal:fal-ai/veo3.1/fast --alias veo-fast --price 1.2
  gesso models add replicate:owner/name --document model.json

The same command again reads the document again and replaces the price. Gesso
never guesses a price: without --price it is unknown. All tenants can use the
names, unless --tenant names some.`;
const collect = (text: string, all: string[] = []) => [...all, text];

export function addCommand(): Command {
  const command = new Command("add")
    .description("Import a model of fal or Replicate by its own name (operator).")
    .argument("<model>", "the provider's own name, such as fal:fal-ai/veo3.1/fast or replicate:owner/name")
    .option("--alias <name>", "another name for it (repeatable)", collect)
    .option("--price <dollars>", "what a run costs in US dollars", parsePrice)
    .option("--tenant <id>", "a tenant that may use the names (repeatable; default: as they are)", collect)
    .addOption(new Option("--all-tenants", "let all tenants use the names").conflicts("tenant"))
    .option("--document <file>", "what the provider publishes, as JSON (default: Gesso reads it from the provider)");
  return withConnection(addOutputFlags(command).optionsGroup("Connection:"))
    .addHelpText("after", EXAMPLES)
    .action(async (model: string, flags: Flags) => {
      process.exitCode = await runCommand(
        "gesso models add",
        () => resolveConnection(flags),
        async (connection) => {
          const document = flags.document === undefined ? undefined : readDocument(flags.document);
          const request = {
            ...{ model, aliases: flags.alias ?? [] },
            ...(flags.price !== undefined && { price: flags.price }),
            ...((flags.tenant || flags.allTenants) && { tenant_ids: flags.tenant ?? null }),
            ...(document !== undefined && { document }),
          };
          const added = await createCliClient(connection).system.importModel(request).catch(refusePlainly);
          if (selectOutputMode(flags) === "text")
            writeNote(`${paint("green", "✓")} ${[model, ...(flags.alias ?? [])].join(", ")} can be used now.\n`);
          printModel({ ...added, name: flags.alias?.[0] ?? added.name }, flags);
          return 0;
        },
      );
    });
}

function parsePrice(text: string): number {
  const price = Number(text.replace(/^\$/, ""));
  if (text.trim() === "" || !(price >= 0)) throw new InvalidArgumentError("Must be an amount in US dollars.");
  return price;
}

function readDocument(path: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  } catch (thrown) {
    throw commandError("usage", `--document takes a file with JSON: ${(thrown as Error).message}.`);
  }
}
