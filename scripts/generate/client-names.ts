// Generates the types of names that the server may extend: run types, error codes, scopes and dimensions of usage. An
// editor completes the known names, and a newer server's names are still valid.
import { AGENT_SCOPE, CONTENT_SCOPE, needsScope, requiredScope, splitScope } from "../../server/src/access/scopes.ts";
import { modelIds } from "../../server/src/contract/models.ts";
import { USAGE_DIMENSIONS } from "../../server/src/contract/schemas/usage.ts";
import { providers } from "../../server/src/providers/all.ts";
import { NAMED_MODELS, toModelId } from "../../server/src/providers/model-names.ts";
import { type ClientOperation, type Contract, type Schema, toPascalCase } from "./client-operations.ts";

const UPLOAD_RUN_TYPES = ["upload", "mask-upload"];

const unionOf = (names: Iterable<string>) =>
  [...new Set(names)]
    .sort()
    .map((name) => JSON.stringify(name))
    .join(" | ");

/** Requests that name a model whose offers have all ended are refused, so editors do not complete its name. */
function listCurrentModels(): string[] {
  const ended = providers.flatMap(({ id, offers }) =>
    offers.flatMap(({ upstreamModel, lifecycle }) =>
      lifecycle?.state === "retired" ? [`${id}:${upstreamModel}`] : [],
    ),
  );
  const current = NAMED_MODELS.filter(({ paths }) => paths.some((path) => !ended.includes(path)));
  return current.map(({ name }) => toModelId(name));
}

/** Names of generated types that a field can have. */
export const NAME_TYPES = ["RunType", "ErrorCode", "Scope", "UsageBy", "ModelName"];

const listRunTypes = (operations: ClientOperation[]) =>
  operations.flatMap(({ operation }) => operation["x-run-type"] ?? []).concat(UPLOAD_RUN_TYPES);
const listModelNames = () => [...modelIds, ...listCurrentModels()];
const listResources = (operations: ClientOperation[]) =>
  operations
    .map(({ name, method }) => ({ name, http: { method } }))
    .filter(needsScope)
    .map(requiredScope)
    .concat(AGENT_SCOPE, CONTENT_SCOPE)
    .map((scope) => splitScope(scope)[0]);

export function generateNameTypes(contract: Contract, operations: ClientOperation[]): string {
  const dimensions = unionOf(USAGE_DIMENSIONS);
  return [
    `/** Kind of a run. A newer server can add more. */\nexport type RunType = ${unionOf(listRunTypes(operations))} | (string & {});`,
    `/** Code of an error. A newer server can add more. */\nexport type ErrorCode = ${unionOf(Object.keys(contract["x-errors"]))} | (string & {});`,
    `/** Permission of a key or token: a resource with read, write or both. */\nexport type Scope = "*" | "*:read" | \`\${${unionOf(listResources(operations))}}:\${"read" | "write" | "*"}\`;`,
    `/** Name of a model. An installation has those of \`catalogue.get\`; each model does some operations. */\nexport type ModelName = ${unionOf(listModelNames())} | (string & {});`,
    `/** Dimensions of a usage report, several separated by commas. */\nexport type UsageBy = ${dimensions} | \`\${${dimensions}},\${string}\`;`,
  ].join("\n\n");
}

type KnownNames = { says: string; words: string[]; isOpen: boolean };

/** The same names for clients in other languages. `isOpen`: other texts are valid too. */
export function listKnownNames(contract: Contract, operations: ClientOperation[]): Record<string, KnownNames> {
  const sorted = (names: string[]) => [...new Set(names)].sort();
  const scopes = listResources(operations).flatMap((resource) =>
    ["read", "write", "*"].map((each) => `${resource}:${each}`),
  );
  return {
    RunType: {
      says: "Kind of a run. A newer server can add more.",
      words: sorted(listRunTypes(operations)),
      isOpen: true,
    },
    ErrorCode: { says: "Code of an error.", words: sorted(Object.keys(contract["x-errors"])), isOpen: true },
    Scope: { says: "Permission of a key or token.", words: ["*", "*:read", ...sorted(scopes)], isOpen: false },
    ModelName: { says: "Name of a model; any other text is valid too.", words: sorted(listModelNames()), isOpen: true },
  };
}

/** The generated type of a field, if it has one. */
export function nameTypeOf(
  field: string,
  { type, pattern, description = "", enum: known, items, "x-widget": widget }: Schema,
): string | undefined {
  if (widget === "model" && type === "string") return "ModelName";
  if (field === "run_type" && type === "string" && !known) return "RunType";
  if (field === "code" && type === "string" && description.startsWith("Error code")) return "ErrorCode";
  if (field === "scopes" && type === "array" && items?.type === "string") return "Scope[]";
  if (field === "by" && pattern && description.startsWith("Dimensions")) return "UsageBy";
  return undefined;
}

/** The map from operations that create runs to their inputs. `declared`: types of inputs that are in this file. */
export function generateRunInputs(operations: ClientOperation[], declared: ReadonlyMap<string, string>): string {
  const running = operations.filter(({ operation }) => operation["x-run-type"]);
  const imported = running.filter(({ name }) => !declared.has(name));
  const groups = Map.groupBy(imported, ({ name }) => (name.includes(".") ? name.split(".")[0]! : "videos"));
  const typeOf = ({ name }: ClientOperation) => `${toPascalCase(name)}Input`;
  const imports = [...groups].map(
    ([group, own]) => `import type { ${own.map(typeOf).join(", ")} } from "./${group}.ts";`,
  );
  return [
    ...imports,
    'import type { RunFields } from "./shapes.ts";',
    "",
    ...[...declared.values()].map((type) => `${type}\n`),
    "/** Input of every operation that creates a run, by the operation's name. */",
    `export type RunInputs = {\n${running.map((verb) => `  ${JSON.stringify(verb.name)}: ${typeOf(verb)};`).join("\n")}\n};`,
    "",
  ].join("\n");
}
