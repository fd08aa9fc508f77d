// Adds to the flags of a connection those of runs, of which each imported model gets a command with its own flags.
import { Command, Option } from "commander";
import { withConnection } from "../connection.ts";
import { addFieldFlags } from "../field-flags.ts";
import { findCliOperation, type OperationField } from "../operations.ts";
import { addRunFlags } from "../run-flags.ts";

export const CREATE_RUN = findCliOperation("runs.create")!;

const OWN_FIELDS = ["model", "input"];
const collect = (text: string, previous: string[] = []) => [...previous, text];

/** Returns the fields of a run, by the attributes that Commander sets. */
export function addModelRunFlags(command: Command): Map<string, OperationField> {
  command
    .option("-i, --set <name=value>", "a field of the model by its own name (repeatable)", collect)
    .option("--input <file>", "a file with JSON, or JSON, with fields of the model");
  command.optionsGroup("Run:");
  const fields = CREATE_RUN.fields.filter(({ name }) => !OWN_FIELDS.includes(name));
  const attributes = addFieldFlags(command, fields);
  addRunFlags(command);
  // Waiting is what the command does anyway.
  command.addOption(new Option("--wait").default(true).hideHelp());
  withConnection(command.optionsGroup("Connection:"));
  return attributes;
}

/** The flags that a field of a model cannot have. */
export function listTakenFlags(): string[] {
  const command = new Command();
  addModelRunFlags(command);
  return command.options.flatMap(({ long }) => [long!, long!.replace(/^--no-/, "--")]);
}
