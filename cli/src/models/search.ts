// `gesso models search`: the imported models with what they make and cost.
import type { CatalogueListModelsInput, ImportedModelSummary } from "@gesso/client";
import { Command, Option } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { runCommand } from "../exit-codes.ts";
import { findCliOperation } from "../operations.ts";
import { renderTable } from "../output/table.ts";
import { type OutputFlags, selectOutputMode, toHarmlessText, toJsonLine, writeData } from "../output/terminal.ts";
import { addOutputFlags } from "../run-flags.ts";
import { formatKinds, formatPrice } from "./render-model.ts";

type Flags = ConnectionFlags & OutputFlags & { media?: CatalogueListModelsInput["media"]; provider?: string };

const MAX_MODELS = 1000;

const EXAMPLES = `
Examples:
  gesso models search                       all imported models
  gesso models search veo --media video     models that make videos`;

export function searchCommand(): Command {
  const media = findCliOperation("catalogue.listModels")!.fields.find(({ name }) => name === "media")!;
  const command = new Command("search")
    .description("Search the imported models.")
    .argument("[text]", "text that the name, the title or the category contains")
    .addOption(
      new Option("--media <kind>", "only models that make files of this kind").choices(media.options as string[]),
    )
    .option("--provider <id>", "only models of this provider");
  return withConnection(addOutputFlags(command).optionsGroup("Connection:"))
    .addHelpText("after", EXAMPLES)
    .action(async (text: string | undefined, flags: Flags) => {
      process.exitCode = await runCommand(
        "gesso models search",
        () => resolveConnection(flags),
        async (connection) => {
          const filter = {
            ...(text !== undefined && { q: text }),
            ...(flags.media !== undefined && { media: flags.media }),
            ...(flags.provider !== undefined && { provider: flags.provider }),
          };
          const models = createCliClient(connection).catalogue.listModels({ ...filter, limit: 100 });
          printModels(await models.toArray({ limit: MAX_MODELS }), flags, Object.keys(filter).length > 0);
          return 0;
        },
      );
    });
}

function printModels(models: ImportedModelSummary[], flags: OutputFlags, isFiltered: boolean): void {
  const mode = selectOutputMode(flags);
  if (mode === "quiet") for (const { name } of models) writeData(toHarmlessText(name));
  else if (mode === "text") for (const line of renderModels(models, isFiltered)) writeData(line);
  else writeData(toJsonLine({ data: models }));
}

const HOW_TO_ADD = "Add one (operator): gesso models add fal:fal-ai/veo3.1/fast";

export function renderModels(models: ImportedModelSummary[], isFiltered: boolean, width?: number): string[] {
  if (models.length === 0) return [isFiltered ? "No imported model matches." : "No model is imported yet.", HOW_TO_ADD];
  const rows = models.map(({ name, model, media, price, title }) => ({
    ...{ name, makes: formatKinds(media), price: formatPrice(price) },
    ...{ title, "alias of": name === model ? null : model },
  }));
  const columns = ["name", "makes", "price", "title", "alias of"] as const;
  const hasValue = (column: (typeof columns)[number]) => rows.some((row) => row[column] !== null);
  return renderTable(rows, columns.filter(hasValue), ...(width === undefined ? [] : [width]));
}
