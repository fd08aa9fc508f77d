// `gesso models remove`: removes the name of an imported model.
import { Command } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { runCommand } from "../exit-codes.ts";
import { type OutputFlags, selectOutputMode, toHarmlessText, toJsonLine, writeData } from "../output/terminal.ts";
import { addOutputFlags } from "../run-flags.ts";
import { refusePlainly } from "./get-model.ts";

type Flags = ConnectionFlags & OutputFlags;

export const removeCommand = (): Command =>
  withConnection(
    addOutputFlags(
      new Command("remove")
        .description("Remove the name of an imported model. Its runs and its other names stay (operator).")
        .argument("<model>", "name of the model, or an alias"),
    ).optionsGroup("Connection:"),
  ).action(async (name: string, flags: Flags) => {
    process.exitCode = await runCommand(
      "gesso models remove",
      () => resolveConnection(flags),
      async (connection) => {
        const removed = await createCliClient(connection).system.removeModel(name).catch(refusePlainly);
        const mode = selectOutputMode(flags);
        if (mode === "text") writeData(`Removed ${toHarmlessText(name)}.`);
        else writeData(mode === "quiet" ? toHarmlessText(name) : toJsonLine(removed));
        return 0;
      },
    );
  });
