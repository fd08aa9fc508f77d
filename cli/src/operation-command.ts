// Builds the command of one operation, or of several operations for the same task: a flag for each field, the fields
// that need no flag, and an example from the contract.
import { Command, Option } from "commander";
import type { FieldValue } from "./build-input.ts";
import { commandExample } from "./command-example.ts";
import type { CommandOperation, OperationCommandSpec } from "./command-spec.ts";
import { type ConnectionFlags, withConnection } from "./connection.ts";
import { commandError } from "./exit-codes.ts";
import { addFieldFlags, flagOf } from "./field-flags.ts";
import { type CliOperation, mainImageField, type OperationField } from "./operations.ts";

export type OperationRequest = { operation: CliOperation; values: FieldValue[] };

/** What the command line says. `read` throws if the flags do not fit together. */
export type OperationCommandLine = {
  /** `gesso runs get`, for messages. */
  command: string;
  flags: ConnectionFlags & Record<string, unknown>;
  read(): OperationRequest | Promise<OperationRequest>;
  /** How to set a field of an imported model. */
  flagOfInput?: (field: string) => string;
};

type Run = (commandLine: OperationCommandLine) => Promise<number>;
type AddFlags = (command: Command, operation: CliOperation) => void;

export function buildOperationCommand(spec: OperationCommandSpec, addFlags: AddFlags, run: Run): Command {
  const first = spec.operations[0]!.operation;
  const command = new Command(spec.command.split(" ").at(-1)!).description(spec.description ?? `${first.summary}.`);
  const fields = mergeFields(spec);
  for (const positional of spec.positionals) {
    const isLast = positional === spec.positionals.at(-1);
    const isRest = positional.endsWith("…") || (isLast && positional === "prompt");
    const label = `${labelOf(positional)}${isRest ? "..." : ""}`;
    const isId = first.pathFields?.includes(positional) === true;
    command.argument(isId ? `<${label}>` : `[${label}]`, describePositional(positional, first));
  }
  const models = spec.operations.flatMap(({ model }) => model ?? []);
  if (models.length > 0) command.addOption(new Option("-m, --model <model>", "Model to use").choices(models));
  const attributes = addFieldFlags(command, models.length > 0 ? fields.filter(({ name }) => name !== "model") : fields);
  addFlags(command, first);
  withConnection(command.optionsGroup("Connection:"));
  command.addHelpText("after", helpNotes(spec));
  return command.action(async (...parameters: unknown[]) => {
    const flags = command.opts() as OperationCommandLine["flags"];
    const read = () => {
      const values = collectValues(spec, parameters.slice(0, spec.positionals.length), { attributes, flags });
      const operation = selectOperation(spec, flags, values);
      return { operation, values: bindValues(operation, values) };
    };
    process.exitCode = await run({ command: `gesso ${spec.command}`, flags, read });
  });
}

/** Examples from the contract, and the rules between fields. */
function helpNotes(spec: OperationCommandSpec): string {
  const examples = spec.operations.map((each) => `  ${commandExample(spec, each)}`);
  const rules = spec.operations[0]!.operation.rules ?? [];
  return ["", "Examples:", ...examples, ...(rules.length > 0 ? ["", ...rules] : [])].join("\n");
}

/** Fields of all operations of the command. A field with other values elsewhere takes any value. */
function mergeFields({ operations }: OperationCommandSpec): OperationField[] {
  const merged = new Map<string, OperationField>();
  for (const { operation } of operations)
    for (const field of operation.fields.filter(({ name }) => !operation.pathFields?.includes(name))) {
      const known = merged.get(field.name);
      const { options: _options, ...rest } = field;
      const isSame = JSON.stringify(known?.options) === JSON.stringify(field.options);
      merged.set(field.name, !known || isSame ? field : { ...rest, type: rest.type === "choice" ? "text" : rest.type });
    }
  return [...merged.values()];
}

const labelOf = (positional: string) => positional.replace(/…$/, "").replace(/(_image)?_url$/, "") || positional;

function describePositional(positional: string, operation: CliOperation): string {
  const field = fieldOf(keyOf(positional), operation);
  const takesImage = field?.type === "image" || field?.type === "file";
  return `${field?.description ?? ""}${takesImage ? ": a file, a URL, a run ID, or - for a run ID from standard input" : ""}`;
}

/** `image` without a flag is the main image of the operation, which may have another field of that name. */
const MAIN_IMAGE = "<image>";
const keyOf = (positional: string) => (positional === "image" ? MAIN_IMAGE : positional.replace(/…$/, ""));

const fieldOf = (key: string, operation: CliOperation): OperationField | undefined =>
  key === MAIN_IMAGE ? mainImageField(operation) : operation.fields.find(({ name }) => name === key);

/** Values by the name of their field or positional, as the command line has them. */
type NamedValues = Map<string, unknown>;
type ParsedFlags = { attributes: Map<string, OperationField>; flags: Record<string, unknown> };

function collectValues(spec: OperationCommandSpec, given: unknown[], { attributes, flags }: ParsedFlags): NamedValues {
  const values: NamedValues = new Map();
  for (const [attribute, { name }] of attributes)
    if (flags[attribute] !== undefined) values.set(name, flags[attribute]);
  for (const [index, positional] of spec.positionals.entries()) {
    const value = given[index];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    values.set(keyOf(positional), positional === "prompt" && Array.isArray(value) ? value.join(" ") : value);
  }
  return values;
}

/** The operation of --model; without it, the first one that has all fields on the command line. */
function selectOperation(
  spec: OperationCommandSpec,
  flags: Record<string, unknown>,
  values: NamedValues,
): CliOperation {
  const misses = ({ operation }: CommandOperation) => [...values.keys()].filter((name) => !fieldOf(name, operation));
  const wanted = spec.operations.find(({ model }) => model !== undefined && model === flags.model);
  const selected = wanted ?? spec.operations.find((each) => misses(each).length === 0) ?? spec.operations[0]!;
  const missing = misses(selected)[0];
  if (missing === undefined) return withModel(selected, values);
  const others = spec.operations.filter((each) => fieldOf(missing, each.operation)).map(({ model }) => model);
  throw commandError("usage", `${flagOf(missing)} does not work with this model. Use --model ${others.join(" or ")}.`);
}

/** An operation for one model can have a field that names it. */
function withModel({ operation, model }: CommandOperation, values: NamedValues): CliOperation {
  if (model && fieldOf("model", operation)) values.set("model", model);
  return operation;
}

const bindValues = (operation: CliOperation, values: NamedValues): FieldValue[] =>
  [...values].map(([name, value]) => ({ field: fieldOf(name, operation)!, value }));
