// Generates the response types of the client from the schemas, with their descriptions as comments.
import { nameTypeOf } from "./client-names.ts";
import { type Contract, refName, type Schema, typeName } from "./client-operations.ts";

const isName = (field: string) => /^[A-Za-z_$][\w$]*$/.test(field);
const indent = (text: string) => text.replaceAll("\n", "\n  ");

/** `open`: the server may add values, so the type allows unknown ones. */
type Direction = "sent" | "answered";

/** The entries of a page of events: events with their position. */
const isListedEvent = ({ properties = {} }: Schema) => "event_id" in properties && "id" in properties;

function typeOf(schema: Schema, side: Direction): string {
  if (isListedEvent(schema)) return "(Event & { id: string })";
  const ref = refName(schema);
  if (ref) return ref;
  if (side === "sent" && schema["x-widget"] === "image") return "ImageSource";
  if (side === "sent" && schema.format === "binary") return "FileSource | string";
  const words = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (words) {
    const known = words.map((word) => JSON.stringify(word)).join(" | ");
    return side === "answered" && schema.enum ? `${known} | (string & {})` : known;
  }
  if (schema.anyOf) {
    const types = [...new Set(schema.anyOf.map((each) => typeOf(each, side)))];
    // Beside `string` the known words would vanish, and with them the completion of editors.
    const hasWords = schema.anyOf.some((each) => each.enum !== undefined);
    const otherWord = schema["x-widget"] === "model" ? "ModelName" : "(string & {})";
    return types.map((type) => (hasWords && type === "string" ? otherWord : type)).join(" | ");
  }
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, side)).join(" | ");
  if (schema.type === "array") {
    const items = typeOf(schema.items ?? {}, side);
    return items.includes("|") || items.includes("{") ? `Array<${items}>` : `${items}[]`;
  }
  if (schema.properties && Object.keys(schema.properties).length > 0) return objectType(schema, side);
  return PLAIN[schema.type ?? ""] ?? "unknown";
}

const PLAIN: Record<string, string> = {
  integer: "number",
  number: "number",
  string: "string",
  boolean: "boolean",
  null: "null",
  object: "Record<string, unknown>",
};

export function objectType({ properties = {}, required = [] }: Schema, side: Direction): string {
  const lines = Object.entries(properties).map(([field, schema]) => {
    const isRequired = required.includes(field);
    const name = isName(field) ? field : JSON.stringify(field);
    return `${comment(schema)}${name}${isRequired ? "" : "?"}: ${nameTypeOf(field, schema) ?? indent(typeOf(schema, side))};`;
  });
  return lines.length > 0 ? `{\n  ${lines.map(indent).join("\n  ")}\n}` : "{}";
}

function comment(schema: Schema): string {
  const description = [
    schema.description ?? schema.anyOf?.map((each) => each.description).find(Boolean),
    bounds(schema),
    schema.default === undefined ? undefined : `Default ${JSON.stringify(schema.default)}`,
  ].filter(Boolean);
  const tags = schema.deprecated ? " @deprecated" : "";
  return description.length > 0 || tags ? `/** ${description.join(". ").replaceAll("*/", "*\\/")}${tags} */\n` : "";
}

function bounds({ minimum, maximum }: Schema): string | undefined {
  const isSaid = (bound: number | undefined) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  return isSaid(minimum) && isSaid(maximum) ? `${minimum} to ${maximum}` : undefined;
}

/** Named schemas of requests. All others are of responses, where the server may add values. */
const REQUEST_SCHEMAS = ["RunOutputReference"];

/** The response types. Types that contain all fields of a run extend `Run`. */
export function generateResponseTypes({ components }: Contract): string {
  const { schemas } = components;
  const run = schemas.Run?.properties ?? {};
  const same = (schema: Schema, field: string) =>
    JSON.stringify(schema.properties?.[field]) === JSON.stringify(run[field]);
  return Object.entries(schemas)
    .filter(([name]) => name !== "Event")
    .map(([name, schema]) => {
      const holdsRun = name !== "Run" && Object.keys(run).every((field) => same(schema, field));
      const rest = Object.entries(schema.properties ?? {}).filter(([field]) => !holdsRun || !(field in run));
      const own = { ...schema, properties: Object.fromEntries(rest) };
      const side = REQUEST_SCHEMAS.includes(name) ? "sent" : "answered";
      const body = rest.length > 0 || !holdsRun ? objectType(own, side) : "";
      const description = schema.description ?? `API response: ${name}`;
      return `/** ${description} */\nexport type ${typeName(name)} = ${[holdsRun ? "Run" : "", body].filter(Boolean).join(" & ")};`;
    })
    .join("\n\n");
}
