// JSON Schemas of the types that a package declares. Objects are closed: a field that a type does not have is wrong.
// A type from another package, and one that syntax alone cannot tell, stands for any value.
import type { PropertyDefinition, TSSignature, TSType } from "oxc-parser";
import { type Declaration, findDeclarations, partsOf, readDeclarations, type Scope } from "./declarations.ts";

export type Schema = { [key: string]: any };

/** Where a type is: the file in the package, its name, and the properties to follow in it. */
export type TypeReference = { file: string; name: string; path?: string[] };

/** Converts the types of one version of a package. `folder` is the one of its package.json. */
export function createTypeReader(folder: string) {
  const definitions: Record<string, Schema> = {};
  const keys = new Map<object, string>();

  function define(found: Declaration[]): Schema {
    const [first] = found;
    if (!first) return {};
    const known = keys.get(first.node);
    if (known) return { $ref: `#/$defs/${known}` };
    const key = `${first.name.replace(/\W/g, "_")}-${keys.size}`;
    keys.set(first.node, key);
    definitions[key] = {};
    definitions[key] = mergeObjects(found.map(convertDeclaration));
    return { $ref: `#/$defs/${key}` };
  }

  function convertDeclaration({ node, scope }: Declaration): Schema {
    switch (node.type) {
      case "TSTypeAliasDeclaration":
        return node.typeParameters ? {} : convert(node.typeAnnotation, scope);
      case "TSEnumDeclaration":
        return { enum: node.body.members.map(({ initializer }) => (initializer as { value?: unknown } | null)?.value) };
      case "TSInterfaceDeclaration": {
        const bases = node.extends.map(({ expression }) => define(findDeclarations(scope, partsOf(expression))));
        return mergeObjects([...bases, convertObject(node.body.body, scope)]);
      }
      case "ClassDeclaration": {
        const fields = node.body.body.filter((member) => member.type === "PropertyDefinition") as PropertyDefinition[];
        const own = fields.filter((field) => field.accessibility !== "private" && !field.static);
        const base = node.superClass ? [define(findDeclarations(scope, partsOf(node.superClass)))] : [];
        return mergeObjects([...base, convertFields(own, scope)]);
      }
    }
  }

  /** The schema behind references. */
  const follow = (schema: Schema): Schema =>
    typeof schema.$ref === "string" ? follow(definitions[schema.$ref.slice("#/$defs/".length)]!) : schema;

  /** One object with the fields of all; of two with the same name, the later one. */
  function mergeObjects(schemas: Schema[]): Schema {
    if (schemas.length === 1) return schemas[0]!;
    const parts = schemas.map(follow).filter(({ type }) => type === "object");
    const properties = Object.assign({}, ...parts.map((part) => part.properties ?? {}));
    const required = parts.flatMap((part, index) => {
      const later = parts.slice(index + 1);
      const isReplaced = (name: string) => later.some((each) => each.properties && name in each.properties);
      return ((part.required ?? []) as string[]).filter((name) => !isReplaced(name));
    });
    return {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: parts.find((part) => part.additionalProperties)?.additionalProperties ?? false,
    };
  }

  function convert(node: TSType, scope: Scope): Schema {
    switch (node.type) {
      case "TSParenthesizedType":
        return convert(node.typeAnnotation, scope);
      case "TSTypeOperator":
        return convert(node.typeAnnotation, scope);
      case "TSArrayType":
        return { type: "array", items: convert(node.elementType, scope) };
      case "TSTypeLiteral":
        return convertObject(node.members, scope);
      case "TSUnionType":
        return convertUnion(
          node.types.filter(({ type }) => type !== "TSUndefinedKeyword").map((each) => convert(each, scope)),
        );
      case "TSIntersectionType":
        return convertIntersection(node.types.map((each) => convert(each, scope)));
      case "TSLiteralType": {
        const { literal } = node;
        if (literal.type === "UnaryExpression")
          return { enum: [-Number((literal.argument as { value: number }).value)] };
        return "value" in literal ? { enum: [literal.value] } : { type: "string" };
      }
      case "TSIndexedAccessType": {
        const key = convert(node.indexType, scope).enum?.[0];
        return follow(convert(node.objectType, scope)).properties?.[key] ?? {};
      }
      case "TSTypeReference":
        return convertReference(partsOf(node.typeName), node.typeArguments?.params ?? [], scope);
      default:
        return KEYWORDS[node.type] ?? {};
    }
  }

  function convertReference(name: string[], parameters: TSType[], scope: Scope): Schema {
    const found = findDeclarations(scope, name);
    if (found.length > 0) return define(found);
    const [first, second] = parameters;
    const base = () => follow(convert(first!, scope));
    const names = () => new Set<string>(follow(convert(second!, scope)).enum ?? []);
    switch (name.join(".")) {
      case "Array":
      case "ReadonlyArray":
        return { type: "array", items: convert(first!, scope) };
      case "Record":
        return { type: "object", additionalProperties: convert(second!, scope) };
      case "Partial":
        return { ...base(), required: [] };
      case "Omit":
        return selectFields(base(), (field) => !names().has(field));
      case "Pick":
        return selectFields(base(), (field) => names().has(field));
      default:
        return {};
    }
  }

  function convertIntersection(parts: Schema[]): Schema {
    // `string & {}` is how a type says that its names are not all there are.
    if (parts.some(({ type }) => type === "string")) return { type: "string" };
    const unions = parts.map(follow).filter(({ anyOf }) => anyOf);
    if (unions.length === 0) return mergeObjects(parts);
    const objects = parts.filter((part) => !follow(part).anyOf);
    const alternatives: Schema[] = unions[0]!.anyOf;
    return { anyOf: alternatives.map((each) => mergeObjects([...objects, ...unions.slice(1), each])) };
  }

  function convertObject(members: readonly TSSignature[], scope: Scope): Schema {
    const index = members.find((member) => member.type === "TSIndexSignature");
    const fields = members.filter((member) => member.type === "TSPropertySignature");
    const object = convertFields(fields, scope);
    return index ? { ...object, additionalProperties: convert(index.typeAnnotation.typeAnnotation, scope) } : object;
  }

  type Field = {
    key: object;
    optional?: boolean | undefined;
    typeAnnotation?: { typeAnnotation: TSType } | null | undefined;
  };

  function convertFields(fields: readonly Field[], scope: Scope): Schema {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const { key, optional, typeAnnotation } of fields) {
      const [name] = partsOf(key as { type: string });
      properties[name!] = typeAnnotation ? convert(typeAnnotation.typeAnnotation, scope) : {};
      if (!optional) required.push(name!);
    }
    return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
  }

  /** The schema of a type, with the definitions that it uses. Throws if the package does not have the type. */
  function read({ file, name, path = [] }: TypeReference): Schema {
    const found = findDeclarations(readDeclarations(`${folder}/${file}`), name.split("."));
    if (found.length === 0) throw new Error(`${file} has no type ${name}`);
    const root = path.reduce<Schema>((schema, field) => {
      const next = follow(schema).properties?.[field];
      if (!next) throw new Error(`${name} has no field ${field}`);
      return next;
    }, define(found));
    return { ...follow(root), $defs: definitionsOf(root) };
  }

  /** Those that a schema uses, directly or not. */
  function definitionsOf(root: Schema): Record<string, Schema> {
    const used = new Map<string, Schema>();
    const visit = (schema: unknown): void => {
      if (typeof schema !== "object" || schema === null) return;
      const key = String((schema as Schema).$ref ?? "").slice("#/$defs/".length);
      if (key && !used.has(key)) {
        used.set(key, definitions[key]!);
        visit(definitions[key]);
      }
      for (const each of Object.values(schema)) visit(each);
    };
    visit(follow(root));
    return Object.fromEntries(used);
  }

  return { read };
}

const selectFields = (object: Schema, isKept: (field: string) => boolean): Schema => ({
  ...object,
  properties: Object.fromEntries(Object.entries(object.properties ?? {}).filter(([name]) => isKept(name))),
  required: ((object.required ?? []) as string[]).filter(isKept),
});

function convertUnion(parts: Schema[]): Schema {
  const values = parts.flatMap((part) => part.enum ?? []);
  const others = parts.filter((part) => part.enum === undefined);
  const all = [...others, ...(values.length > 0 ? [{ enum: values }] : [])];
  return all.length === 1 ? all[0]! : { anyOf: all };
}

const KEYWORDS: Record<string, Schema> = {
  TSStringKeyword: { type: "string" },
  TSTemplateLiteralType: { type: "string" },
  TSNumberKeyword: { type: "number" },
  TSBooleanKeyword: { type: "boolean" },
  TSNullKeyword: { type: "null" },
  TSObjectKeyword: { type: "object" },
  TSVoidKeyword: { type: "object", properties: {} },
  TSNeverKeyword: { not: {} },
};
