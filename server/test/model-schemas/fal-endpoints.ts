// All endpoints of fal that its own client has types for, as documents in the form of fal's OpenAPI 3.0.4. The types
// are read by syntax alone: the file has nothing but type aliases. Bounds, integers and marks are lost in the types.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import {
  type Comment,
  parseSync,
  type TSLiteralType,
  type TSSignature,
  type TSType,
  type TSUnionType,
} from "oxc-parser";

type Schema = Record<string, unknown>;
export type FalEndpoint = { path: string; document: Schema };

type Types = Map<string, TSType>;
type Property = Extract<TSSignature, { type: "TSPropertySignature" }>;

/** About 1 s for all. The documents share nothing: they may be changed. */
export function listFalEndpoints(): FalEndpoint[] {
  const client = dirname(createRequire(import.meta.url).resolve("@fal-ai/client"));
  const text = readFileSync(join(client, "types", "endpoints.d.ts"), "utf8");
  const { program, comments } = parseSync("endpoints.d.ts", text);
  const declarations = program.body.map((each) => (each.type === "ExportNamedDeclaration" ? each.declaration : each));
  const types: Types = new Map(
    declarations.flatMap((each) =>
      each?.type === "TSTypeAliasDeclaration" ? [[each.id.name, each.typeAnnotation]] : [],
    ),
  );
  const converter = createConverter(types, createCommentReader(comments));
  return listProperties(types.get("EndpointTypeMap")!).map((endpoint) => {
    const path = nameOf(endpoint);
    const sides = new Map(listProperties(typeOf(endpoint)).map((side) => [nameOf(side), typeOf(side)]));
    const [input, output] = ["input", "output"].map((side) => converter.resolve(sides.get(side)!));
    return { path, document: describeEndpoint(path, input!, output!) };
  });
}

const listProperties = (node: TSType): Property[] =>
  node.type === "TSTypeLiteral" ? node.members.filter((member) => member.type === "TSPropertySignature") : [];

const nameOf = ({ key }: Property): string =>
  key.type === "Identifier" ? key.name : String((key as { value: unknown }).value);
const typeOf = ({ typeAnnotation }: Property): TSType => typeAnnotation!.typeAnnotation;

type Resolved = { schema: Schema; definitions: Record<string, Schema> };

function describeEndpoint(path: string, input: Resolved, output: Resolved): Schema {
  const body = (schema: Schema) => ({ content: { "application/json": { schema } } });
  const category = /(?:^|[/-])(\w+-to-\w+)(?:$|\/)/.exec(path)?.[1];
  return {
    openapi: "3.0.4",
    info: {
      title: `Queue OpenAPI for ${path}`,
      version: "1.0.0",
      "x-fal-metadata": { endpointId: path, ...(category && { category }) },
    },
    servers: [{ url: "https://queue.fal.run" }],
    components: { schemas: structuredClone({ ...input.definitions, ...output.definitions }) },
    paths: {
      [`/${path}/requests/{request_id}/status`]: { get: { responses: { 200: body({ type: "object" }) } } },
      [`/${path}/requests/{request_id}/cancel`]: { put: { responses: { 200: body({ type: "object" }) } } },
      [`/${path}`]: {
        post: { requestBody: { required: true, ...body(structuredClone(input.schema)) }, responses: { 200: body({}) } },
      },
      [`/${path}/requests/{request_id}`]: { get: { responses: { 200: body(structuredClone(output.schema)) } } },
    },
  };
}

function createConverter(types: Types, readComment: (node: Property) => Schema) {
  const definitions = new Map<string, { schema: Schema; uses: Set<string> }>();

  const define = (name: string) => {
    const known = definitions.get(name);
    if (known) return known;
    const definition = { schema: {} as Schema, uses: new Set<string>() };
    definitions.set(name, definition);
    definition.schema = convert(types.get(name)!, definition.uses);
    return definition;
  };

  const convert = (node: TSType, uses: Set<string>): Schema => {
    switch (node.type) {
      case "TSParenthesizedType":
        return convert(node.typeAnnotation, uses);
      case "TSArrayType":
        return { type: "array", items: convert(node.elementType, uses) };
      case "TSIntersectionType":
        return { allOf: node.types.map((each) => convert(each, uses)) };
      case "TSLiteralType":
        return convertLiteral(node);
      case "TSTypeLiteral":
        return convertObject(node.members, uses);
      case "TSUnionType":
        return convertUnion(node, uses);
      case "TSTypeReference":
        return convertReference(nameOfType(node), node.typeArguments?.params ?? [], uses);
      default: {
        const keyword = KEYWORDS[node.type];
        if (!keyword) throw new Error(`no rule for ${node.type}`);
        return { ...keyword };
      }
    }
  };

  const convertReference = (name: string, parameters: TSType[], uses: Set<string>): Schema => {
    if (name === "Array") return { type: "array", items: convert(parameters[0]!, uses) };
    if (name === "Record") return { type: "object", additionalProperties: convert(parameters[1]!, uses) };
    if (name === "Blob") return { type: "string", format: "binary" };
    uses.add(name);
    define(name);
    return { $ref: `#/components/schemas/${name}` };
  };

  const convertUnion = ({ types: members }: TSUnionType, uses: Set<string>): Schema => {
    // `string | Blob | File` is how the types write a URL that may be uploaded: here File is the browser's class.
    const isUpload = members.some((each) => nameOfType(each) === "Blob");
    const isUploadForm = (each: TSType) =>
      isUpload && (["Blob", "File"].includes(nameOfType(each)) || each.type === "TSStringKeyword");
    const parts = members.filter((each) => !isUploadForm(each)).map((each) => convert(each, uses));
    const isNullable = parts.some((part) => part.type === "null");
    const values = Map.groupBy(
      parts.filter((part) => part.enum !== undefined),
      (part) => part.type,
    );
    const forms = [
      ...(isUpload ? [{ type: "string", format: "uri" }] : []),
      ...parts.filter((part) => part.enum === undefined && part.type !== "null"),
      ...[...values].map(([type, each]) => ({ type, enum: each.flatMap((part) => part.enum) })),
    ];
    const union = forms.length === 1 ? forms[0]! : { anyOf: forms };
    return isNullable ? { ...union, nullable: true } : union;
  };

  const convertObject = (members: TSSignature[], uses: Set<string>): Schema => {
    const fields = members.filter((member) => member.type === "TSPropertySignature");
    const index = members.find((member) => member.type === "TSIndexSignature");
    const properties = fields.map((field) => {
      const schema = convert(typeOf(field), uses);
      const documented = readComment(field);
      // OpenAPI 3.0 ignores what stands beside a reference, so fal's documents wrap it.
      const isWrapped = schema.$ref !== undefined && Object.keys(documented).length > 0;
      return [nameOf(field), { ...(isWrapped ? { allOf: [schema] } : schema), ...documented }] as const;
    });
    const required = fields.filter((field) => !field.optional).map(nameOf);
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      ...(index && { additionalProperties: convert(index.typeAnnotation.typeAnnotation, uses) }),
      "x-fal-order-properties": properties.map(([name]) => name),
    };
  };

  /** A type of an endpoint with all definitions that it uses. */
  const resolve = (node: TSType): Resolved => {
    const uses = new Set<string>();
    const schema = convert(node, uses);
    for (const name of uses) for (const next of define(name).uses) uses.add(next);
    return { schema, definitions: Object.fromEntries([...uses].map((name) => [name, define(name).schema])) };
  };
  return { resolve };
}

const nameOfType = (node: TSType): string =>
  node.type === "TSTypeReference" && node.typeName.type === "Identifier" ? node.typeName.name : "";

const KEYWORDS: Record<string, Schema> = {
  TSStringKeyword: { type: "string" },
  TSNumberKeyword: { type: "number" },
  TSBooleanKeyword: { type: "boolean" },
  TSNullKeyword: { type: "null" },
  TSVoidKeyword: { type: "object", properties: {} },
  TSUnknownKeyword: {},
  TSAnyKeyword: {},
  TSNeverKeyword: { not: {} },
};

function convertLiteral({ literal }: TSLiteralType): Schema {
  const { value } =
    literal.type === "UnaryExpression"
      ? { value: -Number((literal.argument as { value: number }).value) }
      : (literal as { value: unknown });
  return { type: typeof value, enum: [value] };
}

/** The description of a field, and the default at its end. */
function createCommentReader(comments: Comment[]): (node: Property) => Schema {
  const byEnd = comments.filter(({ type }) => type === "Block");
  let next = 0;
  return ({ start }) => {
    // Types are read in any order: the comment of a field is the last one that ends within the line before it.
    while (next > 0 && byEnd[next - 1]!.end > start) next -= 1;
    while (next < byEnd.length && byEnd[next]!.end <= start) next += 1;
    const comment = byEnd[next - 1];
    return comment && start - comment.end < 20 ? parseComment(comment.value) : {};
  };
}

function parseComment(value: string): Schema {
  const lines = value.replace(/^\*/, "").split("\n");
  const comment = lines
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();
  const match = /^([\s\S]*?)\s*Default value: `([\s\S]*)`$/.exec(comment);
  const [description, written] = match ? [match[1], match[2]!] : [comment, undefined];
  const found = { ...(description && { description }) };
  if (written === undefined) return found;
  try {
    return { ...found, default: JSON.parse(written) };
  } catch {
    // Defaults of unions are written without quotes.
    return { ...found, default: written };
  }
}
