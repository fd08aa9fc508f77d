// `gesso models show`: what an imported model takes and makes.
import type { ImportedModel } from "@gesso/client";
import { Command } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { runCommand } from "../exit-codes.ts";
import { type OutputFlags, selectOutputMode, toJsonLine, writeData } from "../output/terminal.ts";
import { addOutputFlags } from "../run-flags.ts";
import { getModel } from "./get-model.ts";
import { renderModel } from "./render-model.ts";

type Flags = ConnectionFlags & OutputFlags;

export const showCommand = (): Command =>
  withConnection(
    addOutputFlags(
      new Command("show")
        .description("Show the input, the result and the price of an imported model.")
        .argument("<model>", "name of the model, or an alias"),
    ).optionsGroup("Connection:"),
  ).action(async (name: string, flags: Flags) => {
    process.exitCode = await runCommand(
      "gesso models show",
      () => resolveConnection(flags),
      async (connection) => {
        printModel(await getModel(createCliClient(connection), name), flags);
        return 0;
      },
    );
  });

export function printModel(model: ImportedModel, flags: OutputFlags): void {
  const mode = selectOutputMode(flags);
  if (mode === "quiet") writeData(model.name);
  else if (mode !== "text") writeData(toJsonLine(model));
  else for (const line of renderModel(model, process.stdout.columns || 80)) writeData(line);
}
