// Makes the description of an imported model fit into a response of a tool. What an agent needs least for a correct
// call is left out first, and named, so that the agent knows what it does not see.
import type { JsonObject } from "../../contract/schemas/run.ts";

export type ShortModel = { response: JsonObject; omitted: string };

const MAX_TEXT = 120;
const MAX_VALUES = 40;
/** Keywords whose names are those of fields or definitions. */
const MAPS = ["properties", "patternProperties", "$defs", "dependentSchemas"];
/** Values of the provider, which can look like a schema. */
const DATA = ["const", "enum", "default", "required", "dependentRequired"];

type ShortenSchema = (schema: JsonObject) => JsonObject;

const withoutExamples: ShortenSchema = ({ examples: _, title: _title, ui: _ui, description, ...schema }) => ({
  ...schema,
  ...(typeof description === "string" && { description: cut(description) }),
});
const withoutTexts: ShortenSchema = ({ description: _, default: _default, ...schema }) => withoutExamples(schema);
const withFewValues: ShortenSchema = ({ enum: values, ...schema }) => ({
  ...withoutTexts(schema),
  ...(Array.isArray(values) && (values.length > MAX_VALUES ? { type: typeof values[0] } : { enum: values })),
});

const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** Each leaves out what the ones before it do, and more. */
const FORMS: { omitted: string; shorten?: ShortenSchema }[] = [
  { omitted: "The schema of the result is left out." },
  { omitted: "The schema of the result, examples and long descriptions are left out.", shorten: withoutExamples },
  { omitted: "The schema of the result, descriptions and defaults are left out.", shorten: withoutTexts },
  {
    omitted:
      `The schema of the result, descriptions, defaults and lists of more than ${MAX_VALUES} allowed values are left ` +
      "out. The error for another value names some of those that are allowed.",
    shorten: withFewValues,
  },
];

/** `response`: that of catalogue.getModel. Undefined if even its shortest form is longer. */
export function shortenModel(response: JsonObject, maxCharacters: number): ShortModel | undefined {
  const { output: _, ...rest } = response;
  for (const { omitted, shorten } of FORMS) {
    const shorter = shorten ? { ...rest, input: shortenSchema(rest.input, shorten) } : rest;
    if (JSON.stringify(shorter).length <= maxCharacters) return { response: shorter, omitted };
  }
  return undefined;
}

function shortenSchema(value: unknown, shorten: ShortenSchema): unknown {
  if (Array.isArray(value)) return value.map((each) => shortenSchema(each, shorten));
  if (typeof value !== "object" || value === null) return value;
  const inner = (keyword: string, each: unknown) => {
    if (DATA.includes(keyword) || typeof each !== "object" || each === null) return each;
    return MAPS.includes(keyword)
      ? mapValues(each, (field) => shortenSchema(field, shorten))
      : shortenSchema(each, shorten);
  };
  const schema = shorten(value as JsonObject);
  return Object.fromEntries(Object.entries(schema).map(([keyword, each]) => [keyword, inner(keyword, each)]));
}

const mapValues = (fields: object, change: (field: unknown) => unknown) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]));
