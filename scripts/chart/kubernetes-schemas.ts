// Writes JSON schemas of Kubernetes objects for kubeconform, from the types that the Go module k8s.io/client-go carries
// for server-side apply. Unknown fields are errors, so a misspelt field is found.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

type AtomType = {
  namedType?: string;
  scalar?: "string" | "numeric" | "boolean" | "untyped";
  list?: { elementType: AtomType };
  map?: { fields?: { name: string; type: AtomType }[]; elementType?: AtomType };
};
type NamedType = AtomType & { name: string };
type JsonSchema = Record<string, unknown>;

const SCALARS: Record<string, JsonSchema> = {
  string: { type: ["string", "null"] },
  numeric: { type: ["number", "null"] },
  boolean: { type: ["boolean", "null"] },
};
/** Untyped in the source: quantities such as 1Gi, and ports by number or name. */
const NUMBER_OR_TEXT = /\.(IntOrString|Quantity)$/;
const OBJECT_NAME = /^io\.k8s\.api\.(\w+)\.(\w+)\.(\w+)$/;

function toSchema(type: AtomType): JsonSchema {
  if (type.namedType !== undefined) return { $ref: `#/definitions/${type.namedType}` };
  if (type.scalar === "untyped") return {};
  if (type.scalar !== undefined) return SCALARS[type.scalar]!;
  if (type.list) return { type: ["array", "null"], items: toSchema(type.list.elementType) };
  const { fields, elementType } = type.map ?? {};
  if (elementType) return { type: ["object", "null"], additionalProperties: toSchema(elementType) };
  const properties = Object.fromEntries((fields ?? []).map((field) => [field.name, toSchema(field.type)]));
  return { type: ["object", "null"], properties, additionalProperties: false };
}

/** One file for each of these kinds, `<kind>-<group>-<version>.json`; none for kinds that Kubernetes does not have. */
export function writeKubernetesSchemas(clientGoFolder: string, folder: string, kinds: Set<string>): void {
  const source = readFileSync(join(clientGoFolder, "applyconfigurations/internal/internal.go"), "utf8");
  const text = /YAMLObject\(`([^`]*)`\)/.exec(source)?.[1];
  if (text === undefined) throw new Error("k8s.io/client-go has no schema where this program looks for it");
  const { types } = parse(text) as { types: NamedType[] };
  const definitions = Object.fromEntries(
    types.map(({ name, ...type }) => [
      name,
      NUMBER_OR_TEXT.test(name) ? { type: ["string", "number"] } : toSchema(type),
    ]),
  );
  mkdirSync(folder, { recursive: true });
  const objects = types.filter(({ map }) => map?.fields?.some(({ name }) => name === "apiVersion"));
  for (const { name } of objects) {
    const [, group, version, kind] = OBJECT_NAME.exec(name) ?? [];
    if (kind === undefined || !kinds.has(kind)) continue;
    const file = `${kind.toLowerCase()}-${group === "core" ? "" : `${group}-`}${version}.json`;
    const schema = { ...(definitions[name] as JsonSchema), type: "object", definitions };
    writeFileSync(join(folder, file), JSON.stringify(schema));
  }
}
