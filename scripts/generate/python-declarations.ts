// Types of the Python client: TypedDicts for inputs, frozen dataclasses for results. Names are those of the wire; only
// a keyword of Python gets an underscore.
import { nameTypeOf } from "./client-names.ts";
import { refName, type Schema, toPascalCase } from "./client-operations.ts";

type Direction = "sent" | "answered";

const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if
   import in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

export const pythonName = (field: string) => (KEYWORDS.has(field) ? `${field}_` : field);

const literal = (value: unknown) =>
  typeof value === "boolean" ? (value ? "True" : "False") : value === null ? "None" : JSON.stringify(value);

/** Written by hand, because image fields take it too. */
const WRITTEN_INPUT = "RunOutputReference";

const PLAIN: Record<string, string> = {
  integer: "int",
  number: "float",
  string: "str",
  boolean: "bool",
  null: "None",
};

/** Types that a module declares, in the order of their use. Nested objects get a name of their own. */
export type Declarations = {
  direction: Direction;
  /** Those that inputs refer to: a response with the same name is another class. */
  schemas: Record<string, Schema>;
  types: Map<string, string>;
  parts: Map<string, string>;
};

export const createDeclarations = (direction: Direction, schemas: Record<string, Schema> = {}): Declarations => ({
  direction,
  schemas,
  types: new Map(),
  parts: new Map(),
});

function pythonType(schema: Schema, name: string, own: Declarations): string {
  const isSent = own.direction === "sent";
  const ref = refName(schema);
  if (ref && (!isSent || ref === WRITTEN_INPUT)) return ref;
  if (ref) return pythonType(own.schemas[ref] ?? {}, `${ref}Input`, own);
  if (isSent && schema["x-widget"] === "image") return "ImageSource";
  if (isSent && schema.format === "binary") return "FileSource";
  const words = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (words) return `Literal[${words.map(literal).join(", ")}]${isSent || schema.const !== undefined ? "" : " | str"}`;
  if (schema.anyOf) {
    const open = schema["x-widget"] === "model" ? "ModelName" : undefined;
    const types = schema.anyOf.map((each) => (each.type === "string" && open ? open : pythonType(each, name, own)));
    return [...new Set(open ? [open] : types.flatMap((each) => each.split(" | ")))].join(" | ");
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.map((type) => pythonType({ ...schema, type }, name, own));
    return [...new Set(types.flatMap((each) => each.split(" | ")))].join(" | ");
  }
  if (schema.type === "array") return `${isSent ? "Sequence" : "list"}[${pythonType(schema.items ?? {}, name, own)}]`;
  if (schema.properties && Object.keys(schema.properties).length > 0) {
    declare(name, schema, own);
    return name;
  }
  const values = schema.additionalProperties;
  const value = typeof values === "object" && Object.keys(values).length > 0 ? pythonType(values, name, own) : "Any";
  if (schema.type === "object") return `${isSent ? "Mapping" : "dict"}[str, ${value}]`;
  return PLAIN[schema.type ?? ""] ?? "Any";
}

const knownType = (field: string, schema: Schema): string | undefined => {
  const known = nameTypeOf(field, schema);
  return known === "Scope[]" ? "list[Scope]" : known === "UsageBy" ? "str" : known;
};

/** How a field of a result is read, if it holds results: the class, in a list or in a dict. */
function partOf(schema: Schema, name: string): string | undefined {
  const ref = refName(schema);
  if (ref) return ref;
  if (schema.anyOf) return schema.anyOf.map((each) => partOf(each, name)).find(Boolean);
  const inner = (each: Schema | undefined) => (each ? partOf(each, name) : undefined);
  const items = schema.items && inner(schema.items);
  if (items) return `[${items}]`;
  if (schema.properties && Object.keys(schema.properties).length > 0) return name;
  const values = typeof schema.additionalProperties === "object" ? inner(schema.additionalProperties) : undefined;
  return values && `{"*": ${values}}`;
}

const textOf = (schema: Schema) => {
  const said = schema.description ?? schema.anyOf?.map((each) => each.description).find(Boolean);
  const deprecated = schema.deprecated ? `Deprecated. ${said ?? ""}` : said;
  return deprecated ? `\n    """${deprecated.replaceAll("\\", "\\\\").replaceAll('"""', "'''").trim()}"""` : "";
};

/** Declares a type with the fields of the schema. `base` has those in `inherited`. */
export function declare(
  name: string,
  schema: Schema,
  own: Declarations,
  { base, inherited = [] }: { base?: string; inherited?: string[] } = {},
): void {
  if (own.types.has(name)) return;
  const isSent = own.direction === "sent";
  const { properties = {}, required = [] } = schema;
  const parts: string[] = [];
  const lines = Object.entries(properties).flatMap(([field, each]) => {
    const nested = `${inherited.includes(field) ? base : name}${toPascalCase(field)}`;
    const isRequired = required.includes(field);
    const part = isSent ? undefined : partOf(each, nested);
    if (part) parts.push(`"${pythonName(field)}": ${part}`);
    if (inherited.includes(field)) return [];
    const type = knownType(field, each) ?? pythonType(each, nested, own);
    const isNullable = type.split(" | ").includes("None");
    if (isSent) return [`    ${pythonName(field)}: ${isRequired ? `Required[${type}]` : type}${textOf(each)}`];
    return [`    ${pythonName(field)}: ${isRequired || isNullable ? type : `${type} | None`}${textOf(each)}`];
  });
  const body = lines.length > 0 ? lines.join("\n") : "    pass";
  own.types.set(
    name,
    isSent
      ? `class ${name}(${base ?? "TypedDict"}, total=False):\n${body}`
      : `@dataclass(frozen=True, kw_only=True)\nclass ${name}(${base ?? "Result"}):\n    """${(schema.description ?? `Response of the API: ${name}`).trim()}"""\n\n${body}`,
  );
  if (parts.length > 0) own.parts.set(name, `${name}._parts = {${parts.join(", ")}}`);
}
