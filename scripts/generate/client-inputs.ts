// Generates the input types of operations. Shared fields are defined once: in a named group, or in an operation that
// another one extends.
import { type ClientOperation, type Schema, toPascalCase } from "./client-operations.ts";
import { objectType } from "./client-responses.ts";

type Group = { description: string; of: string; fields?: string[] };

/**
 * `of`: the operation whose descriptions are used. `fields`: the fields of the group. Default: the fields of every
 * run.
 */
const GROUPS: Record<string, Group> = {
  RunFields: {
    description: "Fields of every operation that creates a run.",
    of: "images.generate",
  },
  ImageFields: {
    description: "The same fields, for operations that wait for the result by default.",
    of: "images.removeBackground",
  },
  SourceFields: {
    description: "The source image.",
    of: "images.backgroundRemove",
    fields: ["image_url", "run_id", "output_index", "frame"],
  },
};

/** Minimum number of own fields for an operation to be extended by others. */
const MIN_SHARED_FIELDS = 3;

export function collectFieldGroups(operations: ClientOperation[]): Record<string, Schema> {
  const found = Object.entries(GROUPS).flatMap(([name, { of, fields }]) => {
    const verb = operations.find((each) => each.name === of);
    return verb ? [[name, pick(verb.input, (field) => (fields ?? verb.commonRunFields).includes(field))]] : [];
  });
  return Object.fromEntries(found);
}

const REQUIRES = `/** The fields, of which at least one of \`Names\` is required. */
export type Requires<Fields, Names extends keyof Fields> = Fields & {
  [Name in Names]: Required<Pick<Fields, Name>>;
}[Names];`;

export function generateFieldGroups(operations: ClientOperation[]): string {
  const groups = collectFieldGroups(operations);
  const types = Object.entries(groups).map(([name, schema]) => {
    const body =
      name === "ImageFields" ? difference(groups.RunFields!, schema, "RunFields") : objectType(schema, "sent");
    return `/** ${GROUPS[name]!.description} */\nexport type ${name} = ${body};`;
  });
  return [REQUIRES, ...types].join("\n\n");
}

/** The input type of an operation, and its form type if the form has other fields. */
export function generateInputTypes(
  operation: ClientOperation,
  neighbours: ClientOperation[],
  groups: Record<string, Schema>,
): string {
  const { name, json, form } = operation;
  const type = toPascalCase(name);
  const own = bodyOf(operation);
  if (Object.keys(own.properties ?? {}).length === 0) return "";
  if (name === "runs.estimate") return ESTIMATE_INPUT;
  const composed = [composeType(own, reusableTypes(operation, neighbours, groups)), ...variantTypes(own)].join(" & ");
  const rules = modelRules(operation);
  const demands = rules
    ? `/** What some models demand of the other fields of \`${name}\`. */\nexport type ${type}Rules = ${rules.type};\n\n`
    : "";
  const fields = fieldsName(operation);
  const input =
    fields === `${type}Input`
      ? `${demands}/** Input of \`${name}\`. */\nexport type ${type}Input = ${composed};`
      : `/** Fields of \`${name}\`. */\nexport type ${fields} = ${composed};\n\n/** Input of \`${name}\`. */\nexport type ${type}Input = ${withChoices(own, fields)};`;
  if (!json || !form || !hasOwnForm(operation)) return input;
  const whole = bodyOf(operation, form);
  const other = withChoices(whole, difference(own, whole, fields));
  return `${input}\n\n/** Form input of \`${name}\`. */\nexport type ${type}Form = ${other};`;
}

/** The lists of fields of which one is required, such as the sources of an image. */
const listChoices = ({ allOf = [], properties = {} }: Schema): string[][] =>
  (allOf as (Schema & { oneOf?: Schema[] })[]).flatMap(({ anyOf, oneOf }) => {
    const names = (anyOf ?? oneOf ?? []).map(({ required = [] }) => required[0] ?? "");
    return names.length > 0 ? [names.filter((field) => field in properties)] : [];
  });

const withChoices = (schema: Schema, fields: string): string =>
  listChoices(schema).reduce(
    (type, names) => `Requires<${type}, ${names.map((name) => JSON.stringify(name)).join(" | ")}>`,
    fields,
  );

/** The type with the fields of the input. With choices it has a name of its own, for types that extend it. */
const fieldsName = (operation: ClientOperation): string =>
  `${toPascalCase(operation.name)}${isRun(operation) && listChoices(bodyOf(operation)).length > 0 ? "Fields" : "Input"}`;

const isRun = ({ operation }: ClientOperation): boolean => operation["x-run-type"] !== undefined;

/** The operation decides which input is valid. */
const ESTIMATE_INPUT = `/** Input of \`runs.estimate\`: the name and the input of an operation that creates a run. */
export type RunsEstimateInput = {
  [Name in keyof RunInputs]: { operation: Name; input: RunInputs[Name] };
}[keyof RunInputs];`;

type Condition = { if?: Schema; then?: Schema };

type FieldVariant = { value: string; required: string[]; fields: Record<string, Schema> };

/** The rules "if this field has this value, then …", by field: what each value demands of the other fields. */
function listVariants({ properties = {}, allOf = [] }: Schema): [string, FieldVariant[]][] {
  const rules = (allOf as Condition[]).flatMap(({ if: condition, then }) => {
    const [[field, { const: value }] = ["", {} as Schema]] = Object.entries(condition?.properties ?? {});
    return typeof value === "string" && then && (then.required || then.properties) ? [{ field, value, then }] : [];
  });
  return [...Map.groupBy(rules, ({ field }) => field)].map(([field, own]) => [
    field,
    [...Map.groupBy(own, ({ value }) => value)].map(([value, parts]) => {
      const required = [...new Set(parts.flatMap(({ then }) => then.required ?? []))];
      const all = Object.assign({}, ...parts.map(({ then }) => then.properties ?? {})) as Record<string, Schema>;
      const narrowed = Object.fromEntries(
        Object.entries(all).filter(([, schema]) => schema.enum !== undefined || schema.const !== undefined),
      );
      const names = [...new Set([...required, ...Object.keys(narrowed)])].filter((each) => each in properties);
      const fields = Object.fromEntries(
        names.map((each) => [each, withoutText({ ...properties[each], ...narrowed[each] })]),
      );
      return { value, required, fields };
    }),
  ]);
}

/** For a field with closed values: one union, with a member for each value with rules, and one for all other values. */
function variantTypes(schema: Schema): string[] {
  const { properties = {} } = schema;
  return listVariants(schema).flatMap(([field, variants]) => {
    const known = properties[field]?.enum;
    if (!known) return [];
    const members = variants.map(({ value, required, fields }) => {
      const isDefault = properties[field]!.default === value;
      return objectType(
        { properties: { [field]: { const: value }, ...fields }, required: isDefault ? required : [field, ...required] },
        "sent",
      );
    });
    const rest = known.filter((value) => variants.every((each) => each.value !== value));
    const others = rest.length > 0 ? [objectType({ properties: { [field]: { enum: rest } } }, "sent")] : [];
    return [`(${[...members, ...others].join(" | ")})`];
  });
}

/** For a field with known names and any other: what each name demands. `field` is the field with the name. */
export function modelRules(operation: ClientOperation): { field: string; type: string } | undefined {
  const schema = bodyOf(operation);
  const open = listVariants(schema).find(([field]) => schema.properties?.[field]?.anyOf);
  if (!open) return undefined;
  const [field, variants] = open;
  const members = variants.map(
    ({ value, required, fields }) =>
      `${JSON.stringify(value)}: ${objectType({ properties: fields, required }, "sent").replaceAll("\n", "\n  ")};`,
  );
  return { field, type: `{\n  ${members.join("\n  ")}\n}` };
}

/** The comments stand at the field's own declaration. */
const withoutText = ({
  description: _description,
  default: _default,
  minimum: _min,
  maximum: _max,
  ...schema
}: Schema): Schema => schema;

/** Whether the form has other fields than the JSON body. */
export const hasOwnForm = (operation: ClientOperation): boolean =>
  operation.form !== undefined && differing(bodyOf(operation), bodyOf(operation, operation.form)).length > 0;

/** The input besides the path: the JSON body, if there is one. */
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

/** A rule that only requires fields counts as required fields. */
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

/** Types that the type can extend, by name. */
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
    return other !== operation && isWorth && isLess && holds(own, body) ? [[fieldsName(other), body]] : [];
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

/** The second type as a difference from the first, which is named. */
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
