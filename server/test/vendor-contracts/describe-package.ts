// What one version of a vendor's package says, as lines that can be compared: its models, and every field of their
// requests and responses with its type.
import { CONTRACTS, type Contract } from "./contracts.ts";
import { createTypeReader, type Schema } from "./type-schemas.ts";

/** `fields`: from the place of a field, such as `POST image_to_video gen4_turbo request /duration`, to its type. */
export type PackageDescription = { models: Set<string>; fields: Map<string, string> };

/** Types that refer to themselves, and parts that no adapter sends, end here. */
const MAX_DEPTH = 3;

export function describePackage(provider: string, folder: string): PackageDescription {
  const { contracts } = CONTRACTS[provider]!;
  const { read } = createTypeReader(folder);
  const described: PackageDescription = { models: new Set(), fields: new Map() };
  for (const contract of contracts) {
    for (const match of listEndpoints(contract, read)) {
      for (const side of ["request", "response"] as const) {
        const type = contract[side];
        if (!type || (side === "response" && contract.method === "POST" && match.endpoint)) continue;
        const schema = readOrUndefined(() => (typeof type === "function" ? type(read, match) : read(type)));
        if (schema) describeSide(schema, `${contract.method} ${match.endpoint ?? nameOf(contract)}`, side, described);
      }
      if (match.endpoint) described.models.add(match.endpoint);
    }
  }
  return described;
}

/** A type that this version does not have is missing in its description, and so a difference. */
function readOrUndefined(read: () => Schema): Schema | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The contract of fal is one for all endpoints, which the package lists. */
function listEndpoints({ path, method }: Contract, read: ReturnType<typeof createTypeReader>["read"]) {
  const isForAll = path.source.includes("<endpoint>") || (method === "GET" && path.source === "\\/requests\\/[\\w-]+$");
  if (!isForAll) return [{} as { endpoint?: string }];
  const { properties } = read({ file: "src/types/endpoints.d.ts", name: "EndpointTypeMap" });
  return Object.keys(properties).map((endpoint) => ({ endpoint }));
}

const nameOf = ({ path }: Contract) => path.source.replace(/\\\/|\[[^\]]*\]\+|[$^\\]|v1(beta)?/g, " ").trim();

function describeSide(schema: Schema, place: string, side: string, { models, fields }: PackageDescription): void {
  const { $defs = {}, anyOf, ...rest } = schema;
  const follow = (each: Schema): Schema => (each.$ref ? follow($defs[each.$ref.slice("#/$defs/".length)] ?? {}) : each);
  const valuesOf = (each: Schema): unknown[] => {
    const { enum: values, anyOf: forms = [] } = follow(each);
    return values ?? forms.flatMap(valuesOf);
  };

  const textOf = (each: Schema): string => {
    const own = follow(each);
    if (own.enum) return own.enum.join(" | ");
    if (own.anyOf) return own.anyOf.map(textOf).join(" | ");
    if (own.type === "array") return `${textOf(own.items ?? {})}[]`;
    return own.type ?? "any";
  };

  const visit = (each: Schema, path: string, depth: number): void => {
    const own = follow(each);
    if (depth > MAX_DEPTH) return;
    if (own.items) visit(own.items, `${path}/*`, depth + 1);
    for (const form of own.anyOf ?? []) visit(form, path, depth + 1);
    for (const [name, field] of Object.entries<Schema>(own.properties ?? {})) {
      const isRequired = own.required?.includes(name);
      fields.set(`${path}/${name}`, `${textOf(field)}${isRequired ? ", required" : ""}`);
      visit(field, `${path}/${name}`, depth + 1);
    }
  };

  for (const each of anyOf ? (anyOf as Schema[]).map(follow) : [rest]) {
    const names = side === "request" ? valuesOf(each.properties?.model ?? {}).map(String) : [];
    for (const name of names) models.add(name);
    visit(each, `${place}${anyOf && names.length > 0 ? ` ${names}` : ""} ${side} `, 0);
  }
}

/** One row of the table. */
export type PackageDifference = {
  change: "new model" | "removed model" | "new field" | "removed field" | "changed field";
  name: string;
  before: string;
  after: string;
};

/** The fields of a new or removed endpoint are no differences of their own. */
export function comparePackages(before: PackageDescription, after: PackageDescription): PackageDifference[] {
  const added = [...after.models].filter((name) => !before.models.has(name));
  const removed = [...before.models].filter((name) => !after.models.has(name));
  const isOf = (names: string[]) => (place: string) => names.some((name) => place.split(" ").includes(name));
  const [isOfAdded, isOfRemoved] = [isOf(added), isOf(removed)];
  const fields = [...new Set([...before.fields.keys(), ...after.fields.keys()])].flatMap(
    (name): PackageDifference[] => {
      const [was, is] = [before.fields.get(name), after.fields.get(name)];
      if (was === is || isOfAdded(name) || isOfRemoved(name)) return [];
      const change = was === undefined ? "new field" : is === undefined ? "removed field" : "changed field";
      return [{ change, name, before: was ?? "", after: is ?? "" }];
    },
  );
  return [
    ...added.map((name) => ({ change: "new model" as const, name, before: "", after: "" })),
    ...removed.map((name) => ({ change: "removed model" as const, name, before: "", after: "" })),
    ...fields.sort((a, b) => a.change.localeCompare(b.change)),
  ];
}
