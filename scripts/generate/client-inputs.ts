// What goes into operations, as types. A field that many operations take is told once: in a group with a name of its
// own, or in the operation from which another one takes everything and adds to it.
import { type ClientOperation, type Schema, toPascalCase } from "./client-operations.ts";
import { objectType } from "./client-responses.ts";

type Group = { says: string; of: string; fields?: string[] };

/** `of` is the operation in whose words the fields are told: all that every run takes, unless they are named. */
const GROUPS: Record<string, Group> = {
  RunFields: {
    says: "Fields of every operation that creates a run.",
    of: "images.generate",
  },
  ImageFields: {
    says: "The same, where the answer waits for the result.",
    of: "images.removeBackground",
  },
  SourceFields: {
    says: "The source image.",
    of: "images.backgroundRemove",
    fields: ["image_url", "run_id"],
  },
};

/** An operation is worth building on when it has this many fields that are in no group. */
const MIN_SHARED_FIELDS = 3;

export function collectFieldGroups(operations: ClientOperation[]): Record<string, Schema> {
  const found = Object.entries(GROUPS).flatMap(([name, { of, fields }]) => {
    const verb = operations.find((each) => each.name === of);
    return verb ? [[name, pick(verb.input, (field) => (fields ?? verb.commonRunFields).includes(field))]] : [];
  });
  return Object.fromEntries(found);
}

export function generateFieldGroups(operations: ClientOperation[]): string {
  const groups = collectFieldGroups(operations);
  return Object.entries(groups)
    .map(([name, schema]) => {
      const body =
        name === "ImageFields" ? difference(groups.RunFields!, schema, "RunFields") : objectType(schema, "sent");
      return `/** ${GROUPS[name]!.says} */\nexport type ${name} = ${body};`;
    })
    .join("\n\n");
}

/** The types of what goes into an operation: one, and one for its form where that takes something else. */
export function generateInputTypes(
  operation: ClientOperation,
  neighbours: ClientOperation[],
  groups: Record<string, Schema>,
): string {
  const { name, json, form } = operation;
  const type = toPascalCase(name);
  const own = bodyOf(operation);
  if (Object.keys(own.properties ?? {}).length === 0) return "";
  const input = `/** What \`${name}\` takes. */\nexport type ${type}Input = ${composeType(own, reusableTypes(operation, neighbours, groups))};`;
  if (!json || !form || !hasOwnForm(operation)) return input;
  const other = difference(own, bodyOf(operation, form), `${type}Input`);
  return `${input}\n\n/** What \`${name}\` takes as a form. */\nexport type ${type}Form = ${other};`;
}

/** Whether the form takes anything else than the JSON body does. */
export const hasOwnForm = (operation: ClientOperation): boolean =>
  operation.form !== undefined && differing(bodyOf(operation), bodyOf(operation, operation.form)).length > 0;

/** What stands beside the path: the JSON body where there is one. */
function bodyOf(
  operation: ClientOperation,
  body = operation.json && operation.form ? operation.json : undefined,
): Schema {
  const schema = body ?? { ...operation.input, ...(operation.json?.allOf && { allOf: operation.json.allOf }) };
  return pick(needed(schema), (field) => !operation.inPath.includes(field));
}

const pick = (schema: Schema, keeps: (field: string) => boolean): Schema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([field]) => keeps(field))),
});

/** A rule that says nothing but what is required is as good as a required field. */
const needed = (schema: Schema): Schema => ({
  ...schema,
  required: [
    ...(schema.required ?? []),
    ...(schema.allOf ?? []).flatMap((rule) => (Object.keys(rule).length === 1 ? (rule.required ?? []) : [])),
  ],
});

const fieldsOf = (schema: Schema) => Object.keys(schema.properties ?? {});
const isRequired = (schema: Schema, field: string) => (schema.required ?? []).includes(field);
const isSame = (one: Schema, other: Schema, field: string) =>
  JSON.stringify(one.properties?.[field]) === JSON.stringify(other.properties?.[field]) &&
  isRequired(one, field) === isRequired(other, field);
const holds = (whole: Schema, part: Schema) => fieldsOf(part).every((field) => isSame(whole, part, field));
const differing = (one: Schema, other: Schema) => fieldsOf(other).filter((field) => !isSame(one, other, field));

/** What the type may be built of, by name. */
function reusableTypes(
  operation: ClientOperation,
  neighbours: ClientOperation[],
  groups: Record<string, Schema>,
): Record<string, Schema> {
  const own = bodyOf(operation);
  const grouped = Object.values(groups).flatMap(fieldsOf);
  const others = neighbours.flatMap((other) => {
    const body = bodyOf(other);
    const isWorth = fieldsOf(body).filter((field) => !grouped.includes(field)).length >= MIN_SHARED_FIELDS;
    const isLess =
      fieldsOf(body).length < fieldsOf(own).length || neighbours.indexOf(other) < neighbours.indexOf(operation);
    return other !== operation && isWorth && isLess && holds(own, body)
      ? [[`${toPascalCase(other.name)}Input`, body]]
      : [];
  });
  return { ...groups, ...Object.fromEntries(others) };
}

function composeType(schema: Schema, known: Record<string, Schema>): string {
  const largestFirst = Object.entries(known).sort(
    ([, one], [, other]) => fieldsOf(other).length - fieldsOf(one).length,
  );
  let rest = schema;
  const parts: string[] = [];
  for (const [name, part] of largestFirst) {
    if (!holds(rest, part)) continue;
    parts.push(name);
    rest = pick(rest, (field) => !(field in (part.properties ?? {})));
  }
  return [...parts, ...(fieldsOf(rest).length > 0 ? [objectType(rest, "sent")] : [])].join(" & ");
}

/** The second told by its difference from the first, whose name is given. */
function difference(one: Schema, other: Schema, name: string): string {
  const fields = differing(one, other);
  const changed = fields.filter((field) => field in (one.properties ?? {}));
  const rest =
    changed.length > 0 ? `Omit<${name}, ${changed.map((field) => JSON.stringify(field)).join(" | ")}>` : name;
  return `${rest} & ${objectType(
    pick(other, (field) => fields.includes(field)),
    "sent",
  )}`;
}
