// Generates the reference page of operations from the OpenAPI description.
import { code, page, table } from "./markdown.ts";

type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  default?: unknown;
  deprecated?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  pattern?: string;
  "x-inline"?: boolean;
};
type Parameter = { name: string; in: string; required: boolean; description?: string; schema: Schema };
type Operation = {
  operationId: string;
  summary: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, { schema: Schema }> }>;
  "x-run-type"?: string;
  "x-changes"?: keyof typeof CHANGES;
  "x-returns-content"?: boolean;
  "x-rules"?: string[];
  "x-aliases"?: string[];
  "x-variants"?: { name: string; summary: string; sets: unknown }[];
};
type Contract = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } };

/** What the reference says about an operation that changes more than runs. */
const CHANGES = { access: "Changes access.", money: "Changes money.", installation: "Changes the installation." };

const nameOf = (ref: string) => ref.split("/").at(-1) ?? "";
const link = (name: string) => `[${name}](#${name.toLowerCase()})`;

function typeOf(schema: Schema): string {
  if (schema.$ref) return link(nameOf(schema.$ref));
  if (schema.enum) return schema.enum.map(code).join(", ");
  if (schema.const !== undefined) return code(schema.const);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.format === "binary") return "file";
  if (schema.properties) return `object of ${Object.keys(schema.properties).map(code).join(", ")}`;
  const type = [schema.type ?? "anything"].flat().join(" or ");
  return schema.format && type === "string" ? schema.format : type;
}

/** The description of a nullable field is in its non-null half. */
const descriptionOf = (schema: Schema): string =>
  schema.description ?? schema.anyOf?.map((each) => each.description).find(Boolean) ?? "";

/** Omits the default bounds of integers in JSON Schema. */
const isMeaningfulBound = (bound: number | undefined) =>
  bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (isMeaningfulBound(least) && isMeaningfulBound(most)) return [`${least} to ${most}${unit}`];
  if (isMeaningfulBound(most)) return [`at most ${most}${unit}`];
  return isMeaningfulBound(least) ? [`at least ${least}${unit}`] : [];
}

const boundsOf = (schema: Schema): string =>
  [
    ...range(schema.minimum, schema.maximum, ""),
    ...range(schema.minLength || undefined, schema.maxLength, " characters"),
    ...range(schema.minItems, schema.maxItems, " entries"),
    ...range(undefined, schema.maxProperties, " keys"),
    // The description of an image says what its pattern does.
    ...(schema.pattern && !schema.format && !schema["x-inline"] ? [code(schema.pattern)] : []),
  ].join("; ");

function fieldRow(name: string, schema: Schema, isRequired: boolean): string[] {
  const preset = isRequired ? "required" : schema.default === undefined ? "" : code(schema.default);
  const says = [schema.deprecated ? "Deprecated." : "", descriptionOf(schema)].filter(Boolean).join(" ");
  return [code(name), typeOf(schema), preset, boundsOf(schema), says];
}

const HEADS = ["Field", "Type", "Default", "Limits", "Description"];

function printFields({ parameters = [], requestBody }: Operation): string[] {
  const asked = parameters.filter((parameter) => parameter.in !== "header");
  const bodies = Object.entries(requestBody?.content ?? {});
  const fields = new Map<string, { schema: Schema; isRequired: boolean; only?: string }>();
  for (const [type, { schema }] of bodies) {
    for (const [name, own] of Object.entries(schema.properties ?? {})) {
      const isElsewhere = bodies.every(([, other]) => other.schema.properties?.[name] !== undefined);
      const isRequired = schema.required?.includes(name) ?? false;
      if (!fields.has(name)) fields.set(name, { schema: own, isRequired, ...(!isElsewhere && { only: type }) });
    }
  }
  for (const { name } of asked) fields.delete(name);
  const rows = [
    ...asked.map(({ name, required, description = "", schema }) =>
      fieldRow(name, { ...schema, description }, required),
    ),
    ...[...fields].map(([name, { schema, isRequired, only }]) => {
      const says = only === "multipart/form-data" ? `${descriptionOf(schema)} (form only)` : descriptionOf(schema);
      return fieldRow(name, { ...schema, description: says }, isRequired);
    }),
  ];
  return rows.length > 0 ? [table(HEADS, rows)] : [];
}

function generateResponses({ responses }: Operation): string {
  const lines = Object.entries(responses).flatMap(([status, { description, content }]) => {
    const schema = Object.values(content ?? {})[0]?.schema;
    return description ? [`- ${status}: ${description}${schema ? ` (${typeOf(schema)})` : ""}`] : [];
  });
  return `Responses:\n\n${lines.join("\n")}`;
}

function printOperation(method: string, path: string, operation: Operation): string {
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  const media = bodies.map(([type]) => code(type)).join(" or ");
  const example = bodies.map(([, body]) => body.example).find(Boolean);
  const variants = operation["x-variants"] ?? [];
  const rules = operation["x-rules"] ?? [];
  return [
    `## ${operation.operationId}`,
    `${operation.summary}.`,
    `${code(`${method.toUpperCase()} ${path}`)}${media && `, body ${media}`}${operation["x-run-type"] ? `, creates runs of type ${code(operation["x-run-type"])}` : ""}`,
    ...(operation["x-changes"] ? [CHANGES[operation["x-changes"]]] : []),
    ...(operation["x-returns-content"] ? ["Needs the scope `content:read` in addition."] : []),
    ...(operation["x-aliases"] ?? []).map((alias) => `Also as ${code(alias)}.`),
    ...variants.map(({ name, summary, sets }) => `Also as ${code(name)}, with ${code(sets)} set: ${summary}.`),
    ...printFields(operation),
    ...(rules.length > 0 ? [`Rules between fields:\n\n${rules.map((rule) => `- ${rule}`).join("\n")}`] : []),
    ...(example ? [`Example:\n\n\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``] : []),
    generateResponses(operation),
  ].join("\n\n");
}

function generateSchemaSection(name: string, schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([field, own]) => [
    code(field),
    typeOf(own),
    descriptionOf(own),
  ]);
  return `### ${name}\n\n${table(["Field", "Type", "What it is"], rows)}`;
}

/** In the order in which a reader needs them: what creates images first, what operators do last. */
const GROUPS: { title: string; names: string[] }[] = [
  { title: "Images and videos", names: ["images", "edit", "videos", "generateVideo"] },
  { title: "Runs and events", names: ["runs", "events"] },
  { title: "Models and prompts", names: ["catalogue", "models", "prompts"] },
  { title: "Webhooks", names: ["webhooks"] },
  { title: "Provenance", names: ["provenance"] },
  { title: "Access and usage", names: ["me", "keys", "tokens", "members", "usage", "budgets", "audit"] },
  { title: "For operators", names: ["tenants", "admin", "system"] },
];
const groupOf = (name: string) => name.split(".")[0] ?? "";

export function generateApiReference(contract: object): string {
  const { paths, components } = contract as Contract;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation, name: operation.operationId })),
  );
  const unknown = operations.filter(({ name }) => !GROUPS.some(({ names }) => names.includes(groupOf(name))));
  if (unknown.length > 0)
    throw new Error(`No group of the reference has ${unknown.map(({ name }) => name)}: add it to GROUPS.`);
  const groups = GROUPS.map(({ title, names }) => ({
    title,
    operations: names.flatMap((group) => operations.filter(({ name }) => groupOf(name) === group)),
  }));
  const contents = groups.map(
    ({ title, operations }) =>
      `- **${title}**: ${operations.map(({ name }) => `[${name}](#${name.toLowerCase().replaceAll(".", "")})`).join(", ")}`,
  );
  const opening =
    "The whole contract for programs is [`api/openapi.json`](../../api/openapi.json); a running server has it at " +
    "`/openapi.json`. Every request carries `Authorization: Bearer <key>` or `X-API-Key: <key>`. Unknown fields are " +
    "refused. Requests that create something take an `Idempotency-Key`.";
  const shapes = Object.entries(components.schemas).map(([name, schema]) => generateSchemaSection(name, schema));
  const sections = groups.flatMap(({ operations }) =>
    operations.map(({ method, path, operation }) => printOperation(method, path, operation)),
  );
  return page("Operations", opening, contents.join("\n"), ...sections, "## Response schemas", ...shapes);
}
