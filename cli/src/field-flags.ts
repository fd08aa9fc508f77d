// Flags of a command from the fields of an operation: one flag per field, with the values that the field takes.
import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { OperationField } from "./operations.ts";

/** Flags that every command has, so a field of the same name is `--set-<name>`. */
const RESERVED = ["url", "key", "data", "json", "quiet", "profile", "help"];
const SHORT_FLAGS: Record<string, string> = { model_type: "-m", model: "-m", batch_size: "-n", n: "-n" };
/** What every run has, in one place of the help. */
const RUN_OPTIONS = ["routing", "max_cost", "webhook_url", "webhook_secret", "metadata"];
/** The command itself waits for the run. */
const HIDDEN_FIELDS = ["sync"];
/** Names that people try first. */
const OTHER_NAMES: Record<string, string> = { model_type: "--model", aspect_ratio: "--ratio" };

const toKebabCase = (name: string) =>
  name
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();

/**
 * The flag of a field: `--image-url` for `image_url`. A field with the name of another flag of the command gets a
 * prefix, and so does one whose flag would read as the negation of another.
 */
export function flagOf(field: string, taken: readonly string[] = []): string {
  const name = toKebabCase(field);
  const isTaken = RESERVED.includes(name) || taken.includes(`--${name}`) || name.startsWith("no-");
  return `--${isTaken ? "set-" : ""}${name}`;
}

const PLACEHOLDERS: Record<OperationField["type"], string> = {
  ...{ text: "text", integer: "number", number: "number", boolean: "boolean", choice: "value", object: "json" },
  ...{ image: "image", file: "image", run: "run" },
};

/**
 * Adds the flags. Returns the field of each attribute that Commander sets. `taken` are the flags that the command gets
 * besides.
 */
export function addFieldFlags<Field extends OperationField>(
  command: Command,
  fields: Field[],
  { taken = [], parse = parseFieldValue }: FlagSettings<Field> = {},
): Map<string, Field> {
  const byAttribute = new Map<string, Field>();
  for (const field of fields)
    for (const option of optionsOf(field, command, { fields, taken, parse })) {
      command.addOption(RUN_OPTIONS.includes(field.name) ? option.helpGroup("Run:") : option);
      byAttribute.set(option.attributeName(), field);
    }
  return byAttribute;
}

type ParseValue<Field> = (field: Field, text: string) => unknown;
type FlagSettings<Field> = { taken?: readonly string[]; parse?: ParseValue<Field> };
type OptionSettings<Field> = Required<FlagSettings<Field>> & { fields: Field[] };

function optionsOf<Field extends OperationField>(
  field: Field,
  command: Command,
  { fields, taken, parse: parseValue }: OptionSettings<Field>,
): Option[] {
  const { name, type, isDeprecated, isList, options } = field;
  const flag = flagOf(name, taken);
  const description = `${field.description ?? ""}${isList ? " (repeatable)" : ""}`.trim();
  if (type === "boolean") {
    const isHidden = HIDDEN_FIELDS.includes(name);
    return [new Option(flag, description).hideHelp(isHidden), new Option(flag.replace("--", "--no-")).hideHelp()];
  }
  const placeholder = field.imageProperty ? "name=image" : PLACEHOLDERS[type];
  const parse = (text: string, previous?: unknown[]) =>
    isList
      ? [...(previous ?? []), ...splitList(field, text).map((each) => parseValue(field, each))]
      : parseValue(field, text);
  const make = (flags: string) => {
    const option = new Option(`${flags} <${placeholder}>`, description).argParser(parse as (text: string) => unknown);
    if (options) option.argChoices = options.map(String);
    return option.hideHelp(isDeprecated === true);
  };
  // `model_type` of an operation with a `model` is about something else than the model that does the work.
  const isOwnName = name === "model_type" && fields.some((each) => each.name === "model");
  const short = isOwnName ? undefined : SHORT_FLAGS[name];
  const isShortFree = short && !command.options.some((each) => each.short === short);
  const isFree = (other: string) => ![...taken, ...fields.map((each) => flagOf(each.name, taken))].includes(other);
  const other = isOwnName ? undefined : [OTHER_NAMES[name]].find((each) => each && isFree(each));
  return [make(isShortFree ? `${short}, ${flag}` : flag), ...(other ? [make(other).hideHelp()] : [])];
}

/** A list of known values or scopes may be one text with commas. */
const splitList = (field: OperationField, text: string): string[] =>
  field.options || field.name === "scopes" ? text.split(",") : [text];

/** Images and runs stay as they were written: see build-input.ts. */
export function parseFieldValue(field: OperationField, text: string): unknown {
  const { type, options, isNullable, isOpen } = field;
  if (isNullable && text === "null") return null;
  if (options) {
    const found = options.find((each) => String(each) === text) ?? (isOpen ? text : undefined);
    if (found === undefined) throw new InvalidArgumentError(`Must be one of ${options.join(", ")}.`);
    return found;
  }
  if (type === "integer" || type === "number") {
    const value = Number(text);
    const isValid = text.trim() !== "" && Number.isFinite(value) && (type === "number" || Number.isInteger(value));
    if (!isValid) throw new InvalidArgumentError(type === "integer" ? "Must be an integer." : "Must be a number.");
    return value;
  }
  if (type === "boolean") {
    if (text !== "true" && text !== "false") throw new InvalidArgumentError("Must be true or false.");
    return text === "true";
  }
  return type === "object" && !field.imageProperty ? parseJson(text) : text;
}

/** JSON, or @file with JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith("@") ? readFileSync(text.slice(1), "utf8") : text);
  } catch (thrown) {
    throw new InvalidArgumentError(`Must be JSON or @file with JSON: ${(thrown as Error).message}.`);
  }
}
