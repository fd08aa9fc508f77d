// `gesso call`: any operation of the API by its name, with its fields as `-f name=value`.
import { Command } from "commander";
import { type ConnectionFlags, withConnection } from "../connection.ts";
import { commandError } from "../exit-codes.ts";
import { parseFieldValue } from "../field-flags.ts";
import type { OperationCommandLine, OperationRequest } from "../operation-command.ts";
import { type CliOperation, findCliOperation, OPERATIONS } from "../operations.ts";
import { printOperation } from "../print-operation.ts";
import { addRunFlags } from "../run-flags.ts";
import { runOperation } from "../runs/run-operation.ts";

const EXAMPLES = `
Examples:
  gesso call images.generate -f prompt='a red bicycle' -f width=768
  gesso call images.describe -f image=@desk.png
  gesso call keys.list -f limit=5

All operations: docs/reference/api.md`;

type Flags = ConnectionFlags & Record<string, unknown> & { field?: string[] };

export function callCommand(): Command {
  const command = new Command("call")
    .description("Call any operation of the API by its name.")
    .argument("<operation>", "name of the operation, such as images.generate")
    .option("-f, --field <name=value>", "a field of the operation (repeatable)", (text, previous: string[] = []) => [
      ...previous,
      text,
    ]);
  addRunFlags(command);
  return withConnection(command.optionsGroup("Connection:"))
    .addHelpText("after", EXAMPLES)
    .action(async (name: string, flags: Flags) => {
      const operation = findCliOperation(name);
      const read = () => readRequest(name, operation, flags.field ?? []);
      const commandLine: OperationCommandLine = { command: `gesso call ${name}`, flags, read };
      process.exitCode = await (operation?.kind === "run" ? runOperation : printOperation)(commandLine);
    });
}

function readRequest(name: string, operation: CliOperation | undefined, given: string[]): OperationRequest {
  if (!operation) {
    const group = OPERATIONS.map((each) => each.name).filter((each) => each.split(".")[0] === name.split(".")[0]);
    const hint = group.length > 0 ? ` Operations of this group: ${group.join(", ")}.` : " See docs/reference/api.md.";
    throw commandError("usage", `There is no operation ${name}.${hint}`);
  }
  const values = new Map<string, unknown[]>();
  for (const text of given) {
    const [, field = "", value = ""] = /^([\w]+)=(.*)$/s.exec(text) ?? [];
    if (!field) throw commandError("usage", `Write a field as name=value, not ${text}.`);
    values.set(field, [...(values.get(field) ?? []), parseValue(operation, field, value)]);
  }
  return {
    operation,
    values: [...values].map(([field, all]) => {
      const described = operation.fields.find((each) => each.name === field)!;
      return { field: described, value: described.isList ? all : all.at(-1) };
    }),
  };
}

function parseValue(operation: CliOperation, name: string, text: string): unknown {
  const field = operation.fields.find((each) => each.name === name);
  if (!field) {
    const known = operation.fields.map((each) => each.name).join(", ");
    throw commandError("usage", `${operation.name} has no field ${name}. Its fields: ${known}`);
  }
  try {
    return parseFieldValue(field, text);
  } catch (thrown) {
    throw commandError("usage", `${name}: ${(thrown as Error).message}`);
  }
}
