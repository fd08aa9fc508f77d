// The example in the help of a command, from the example of the operation in the contract: images are files.

import type { CommandOperation, OperationCommandSpec } from "./command-spec.ts";
import { flagOf } from "./field-flags.ts";
import { mainImageField } from "./operations.ts";

const RUN_ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
/** What the command does anyway. */
const LEFT_OUT = ["sync", "model"];

export function commandExample(spec: OperationCommandSpec, { operation, model }: CommandOperation): string {
  const { example = {}, fields, pathFields = [] } = operation;
  const values = new Map(Object.entries(example).filter(([name]) => !LEFT_OUT.includes(name)));
  for (const id of pathFields) if (!values.has(id)) values.set(id, RUN_ID);
  const words = spec.positionals.flatMap((positional) => {
    const plain = positional.replace(/…$/, "");
    const name = [
      plain,
      ...(plain === "image" ? [mainImageField(operation)?.name ?? ""] : [`${plain.replace(/s$/, "")}_urls`]),
    ].find((each) => values.has(each));
    if (name === undefined) return [];
    const value = values.get(name);
    values.delete(name);
    return [value].flat().map((each) => toWord(each, positional === "image"));
  });
  const flags = [...values].flatMap(([name, value]) => {
    const field = fields.find((each) => each.name === name);
    if (field?.type === "boolean") return value ? [flagOf(name)] : [flagOf(name).replace("--", "--no-")];
    const all = field?.isList ? [value].flat() : [value];
    return all.map((each) => `${flagOf(name)} ${toWord(each, false)}`);
  });
  return ["gesso", spec.command, ...words, ...(model ? ["-m", model] : []), ...flags].join(" ");
}

function toWord(value: unknown, isImage: boolean): string {
  const { image_reference: image, tag } = (value ?? {}) as { image_reference?: unknown; tag?: unknown };
  const text =
    image && tag ? `${tag}=${toFile(image)}` : typeof value === "object" ? JSON.stringify(value) : toFile(value);
  const word = isImage && text === RUN_ID ? "desk.png" : text;
  return /^[\w.,:/=@#%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const toFile = (value: unknown) => String(value).replace(/^https:\/\/example\.com\/(\w+\.png)$/, "$1");
