// The command of one imported model: a flag for each field of its schema that can have one, and what every run takes.
import type { ImportedModel } from "@gesso/client";
import { Command } from "commander";
import type { FieldValue } from "../build-input.ts";
import type { ConnectionFlags } from "../connection.ts";
import { addFieldFlags, flagOf } from "../field-flags.ts";
import type { OperationField } from "../operations.ts";
import { toHarmlessText } from "../output/terminal.ts";
import { runOperation } from "../runs/run-operation.ts";
import { attachFiles, parseModelValue, readInputDocument, readNamedValues } from "./model-input.ts";
import { exampleCommand, formatKinds, formatPrice } from "./render-model.ts";
import { addModelRunFlags, CREATE_RUN, listTakenFlags } from "./run-model-command.ts";
import { listModelFields, type ModelField } from "./schema-fields.ts";

type Flags = ConnectionFlags & Record<string, unknown> & { set?: string[]; input?: string };

const MAX_DESCRIPTION = 240;

export function buildModelCommand(model: ImportedModel): Command {
  const fields = listModelFields(model);
  const taken = listTakenFlags();
  const flagged = withOwnFlags(fields, taken);
  const command = new Command("gesso run")
    .usage(`${model.name} [options]`)
    .description(`Run ${describeModel(model)}.`)
    .optionsGroup("Input of the model:");
  const named = flagged.map((field) => ({ ...field, description: describeField(field, taken) }));
  const attributes = addFieldFlags(command, named, { taken, parse: parseModelValue });
  const runAttributes = addModelRunFlags(command.optionsGroup("Other ways to write the input:"));
  command.addHelpText("after", helpNotes(model, fields, flagged));
  return command.action(async (flags: Flags) => {
    const read = async () => {
      const input = await readInput(model, { flags, attributes });
      return { operation: CREATE_RUN, values: [...toRunValues(model, input), ...readRunFlags(flags, runAttributes)] };
    };
    const flagOfInput = (name: string) =>
      flagged.some((field) => field.name === name) ? flagOf(name, taken) : `-i ${toHarmlessText(name)}`;
    process.exitCode = await runOperation({ command: "gesso run", flags, read, flagOfInput });
  });
}

const describeModel = ({ name, title, media, price }: ImportedModel): string => {
  const makes = `makes ${formatKinds(media)}, price ${price === null ? "unknown" : `${formatPrice(price)} per run`}`;
  return `${name}${title ? ` (${toHarmlessText(title)})` : ""}: ${makes}`;
};

/** A field with an unusual name, or one whose flag another field has, is only reachable by -i and --input. */
function withOwnFlags(fields: ModelField[], taken: string[]): ModelField[] {
  const seen = new Set<string>();
  return fields.filter(({ name }) => {
    const flag = flagOf(name, taken);
    const isFree = /^[A-Za-z][\w-]*$/.test(name) && !seen.has(flag) && !taken.includes(flag);
    seen.add(flag);
    return isFree;
  });
}

/** The text of the provider, and what the type alone does not tell. */
function describeField(field: ModelField, taken: string[]): string {
  const text = toHarmlessText(field.description ?? "").trim();
  const { isRequired, file, minimum, maximum, takesJson, default: byDefault } = field;
  const isOn = field.type === "boolean" && byDefault === true;
  const bounds = [
    ...(minimum === undefined ? [] : [`At least ${minimum}`]),
    ...(maximum === undefined ? [] : [`${minimum === undefined ? "At" : "at"} most ${maximum}`]),
  ];
  const facts = [
    ...(isRequired ? ["Required"] : []),
    ...(file === undefined ? [] : [`A file${file === "file" ? "" : ` (${formatKinds([file])})`}, a URL or a run ID`]),
    ...(takesJson ? ["Takes JSON as well"] : []),
    ...(bounds.length > 0 ? [bounds.join(", ")] : []),
    ...(byDefault === undefined ? [] : [`Default: ${toHarmlessText(formatDefault(byDefault))}`]),
    ...(isOn ? [`Off: ${flagOf(field.name, taken).replace("--", "--no-")}`] : []),
  ];
  const short = text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION - 1)}…` : text;
  return [...(short ? [short.replace(/\.$/, "")] : []), ...facts].join(". ");
}

const formatDefault = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function helpNotes(model: ImportedModel, fields: ModelField[], flagged: ModelField[]): string {
  const others = fields.filter((field) => !flagged.includes(field)).map(({ name }) => toHarmlessText(name));
  return [
    "",
    "Example:",
    `  ${exampleCommand(model)}`,
    ...(others.length > 0 ? ["", `Fields without a flag: ${others.join(", ")}. Write them with -i or --input.`] : []),
  ].join("\n");
}

type GivenInput = { flags: Flags; attributes: Map<string, OperationField> };

/** Flags win over -i, and both over --input. */
async function readInput(model: ImportedModel, { flags, attributes }: GivenInput): Promise<Record<string, unknown>> {
  const own = [...attributes].filter(([attribute]) => flags[attribute] !== undefined);
  const input = {
    ...(flags.input !== undefined && readInputDocument(flags.input)),
    ...readNamedValues(model, flags.set ?? []),
    ...Object.fromEntries(own.map(([attribute, { name }]) => [name, flags[attribute]])),
  };
  return attachFiles(input, model.files.input);
}

const fieldOf = (name: string): OperationField => CREATE_RUN.fields.find((each) => each.name === name)!;

const toRunValues = ({ name }: ImportedModel, input: Record<string, unknown>): FieldValue[] => [
  { field: fieldOf("model"), value: name },
  { field: fieldOf("input"), value: input },
];

const readRunFlags = (flags: Flags, attributes: Map<string, OperationField>): FieldValue[] =>
  [...attributes]
    .filter(([attribute]) => flags[attribute] !== undefined)
    .map(([attribute, field]) => ({ field, value: flags[attribute] }));
