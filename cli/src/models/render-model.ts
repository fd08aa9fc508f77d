// An imported model as text for people: its fields, its files, its price, and the command that runs it.
import type { ImportedModel } from "@gesso/client";
import { flagOf } from "../field-flags.ts";
import { formatAmount, paint, toHarmlessText } from "../output/terminal.ts";
import { listTakenFlags } from "./run-model-command.ts";
import { listModelFields, type ModelField } from "./schema-fields.ts";

const MAX_NAME = 28;
const MAX_VALUE = 40;
const MIN_DESCRIPTION = 24;
const GAP = "  ";
const SHOWN_HASH = 12;

const dim = (text: string) => paint("dim", text, process.stdout);
const cut = (text: string, width: number) => (text.length > width ? `${text.slice(0, Math.max(1, width - 1))}…` : text);

/** `model` alone would be taken for the model that runs. */
const formatKind = (kind: string) => (kind === "model" ? "3D model" : kind);
export const formatKinds = (kinds: readonly string[]): string =>
  kinds.length > 0 ? kinds.map(formatKind).join(", ") : "text";
export const formatPrice = (price: number | null): string => (price === null ? "unknown" : formatAmount(price));
export const shortHash = (hash: string): string => hash.slice(0, SHOWN_HASH);

/** What the operator can do about it comes first: long lines are cut. */
const describeRefusal = (refused_at: string, name: string): string =>
  `run gesso models sync ${name}: an input that fits this schema was refused on ${refused_at.slice(0, 10)}`;

export function renderModel(model: ImportedModel, width: number): string[] {
  const { name, title, category, media, price, schema_hash, version, provider } = model;
  const facts = [
    ...(name === model.model ? [] : [["Model", model.model]]),
    ["Provider", [provider, ...(category ? [category] : [])].join(", ")],
    ["Makes", formatKinds(media)],
    ["Price", price === null ? "unknown: requests with a limit on costs are refused" : `${formatPrice(price)} per run`],
    ...(model.tenant_ids ? [["Tenants", model.tenant_ids.join(", ")]] : []),
    ["Schema", [shortHash(schema_hash), ...(version ? [`version ${shortHash(version)}`] : [])].join(", ")],
    ...(model.refused_at === null ? [] : [["Refused", describeRefusal(model.refused_at, name)]]),
  ].map(([label, text]) => cut(`${label!.padEnd(10)}${toHarmlessText(text!)}`, width));
  return [
    cut([paint("bold", name, process.stdout), ...(title ? [toHarmlessText(title)] : [])].join(GAP), width + 10),
    ...facts,
    "",
    dim("Input"),
    ...renderFields(listModelFields(model), width),
    "",
    dim("Files of the result"),
    ...renderOutputFiles(model, width),
    "",
    dim("Run it"),
    `${GAP}${exampleCommand(model)}`,
  ];
}

function renderFields(fields: ModelField[], width: number): string[] {
  if (fields.length === 0) return [`${GAP}none`];
  const names = fields.map(({ name, isRequired }) => `${toHarmlessText(name)}${isRequired ? " *" : ""}`);
  const nameWidth = Math.min(MAX_NAME, Math.max(...names.map(({ length }) => length)));
  const rest = width - nameWidth - 2 * GAP.length;
  const valueWidth = Math.min(MAX_VALUE, Math.max(...fields.map((field) => describeValue(field).length)));
  const room = rest - valueWidth - GAP.length;
  const lines = fields.map((field, index) => {
    const start = `${GAP}${cut(names[index]!, nameWidth).padEnd(nameWidth)}${GAP}`;
    if (room < MIN_DESCRIPTION || !field.description) return `${start}${cut(describeValue(field, rest), rest)}`;
    const description = dim(cut(toHarmlessText(field.description), room));
    return `${start}${cut(describeValue(field), valueWidth).padEnd(valueWidth)}${GAP}${description}`;
  });
  return fields.some(({ isRequired }) => isRequired) ? [...lines, dim(`${GAP}* required`)] : lines;
}

/** What a value can be and its default: `4s, 6s, 8s (default 8s)`. */
export function describeValue(field: ModelField, width = MAX_VALUE): string {
  const byDefault = field.default === undefined ? "" : ` (default ${formatValue(field.default)})`;
  const list = field.isList ? "list of " : "";
  const type = describeType(field);
  const isPlural = field.isList && /^(?:text|integer|number|.*\bfile)$/.test(type) && !field.options;
  return `${list}${cut(isPlural ? `${type}s` : type, width - byDefault.length - list.length)}${byDefault}`;
}

const formatValue = (value: unknown): string =>
  cut(toHarmlessText(typeof value === "string" ? value : JSON.stringify(value)), 18);

function describeType({ type, file, options, minimum, maximum, takesJson }: ModelField): string {
  if (file !== undefined) return file === "file" ? "file" : `${formatKind(file)} file`;
  if (options)
    return [...options.map((each) => toHarmlessText(String(each))), ...(takesJson ? ["JSON"] : [])].join(", ");
  if (type === "boolean") return "true or false";
  if (type === "object") return "JSON";
  if (minimum !== undefined && maximum !== undefined) return `${type} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${type} from ${minimum}`;
  return maximum === undefined ? `${type}${takesJson ? " or JSON" : ""}` : `${type} to ${maximum}`;
}

function renderOutputFiles({ files }: ImportedModel, width: number): string[] {
  if (files.output.length === 0) return [`${GAP}none: the result is JSON`];
  const pointers = files.output.map(({ pointer }) => toHarmlessText(pointer) || "/");
  const column = Math.max(...pointers.map(({ length }) => length));
  return files.output.map(({ kind }, index) =>
    cut(`${GAP}${pointers[index]!.padEnd(column)}${GAP}${formatKind(kind)}`, width),
  );
}

/** The command with the required fields. */
export function exampleCommand({ name, example, ...model }: ImportedModel): string {
  const fields = listModelFields(model).filter(({ isRequired }) => isRequired);
  const taken = listTakenFlags();
  const flags = fields.map((field) => `${flagOf(field.name, taken)} ${toWord(sampleOf(field, example[field.name]))}`);
  return ["gesso run", name, ...flags].join(" ");
}

const SAMPLE_FILES: Record<string, string> = {
  ...{ image: "image.png", video: "video.mp4", audio: "audio.wav", model: "model.glb", archive: "files.zip" },
  ...{ text: "text.txt", weights: "lora.safetensors" },
};

function sampleOf({ file, isList, type }: ModelField, given: unknown): string {
  if (file !== undefined) return SAMPLE_FILES[file] ?? "file.bin";
  const value = isList ? [given].flat()[0] : given;
  if (type === "text" && (value === undefined || value === "…")) return "…";
  return value === undefined ? "…" : typeof value === "string" ? value : JSON.stringify(value);
}

const toWord = (text: string): string => {
  const word = cut(toHarmlessText(text), 60);
  return /^[\w.,:/=@#%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
};
