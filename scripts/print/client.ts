// The client, printed from the contract alone: a file for each group of operations, so that one can be had without the
// others, and a file that puts them together.
import { type Contract, pascal, refName, type Schema, type Verb, verbsOf } from "./client-contract.ts";
import { objectOf, printInputs, printRunFields, printShapes } from "./client-shapes.ts";
import { PRINTED } from "./page.ts";

const FOLDER = "sdk/src/generated";
const HEAD = `// ${PRINTED}\n`;

export function printClient(contract: object): Record<string, string> {
  const verbs = verbsOf(contract as Contract);
  const groups = Map.groupBy(verbs, ({ name }) => (name.includes(".") ? name.split(".")[0]! : "videos"));
  const files = [...groups].map(([group, own]) => [`${FOLDER}/${group}.ts`, printGroup(group, own)]);
  return {
    ...Object.fromEntries(files),
    [`${FOLDER}/shapes.ts`]: `${HEAD}// What every run takes, and what the server answers.\n\n${printRunFields(verbs)}\n\n${printShapes(contract as Contract)}\n`,
    [`${FOLDER}/client.ts`]: printAssembly([...groups.keys()]),
    "sdk/api.md": printApi(verbs),
  };
}

/** Verbs as a tree: a node may be a verb and a group at once. */
type Node = { verb?: Verb; alias?: string; children: Map<string, Node> };

function treeOf(verbs: Verb[]): Node {
  const root: Node = { children: new Map() };
  const place = (name: string) => {
    let node = root;
    for (const word of name.split(".").slice(name.includes(".") ? 1 : 0)) {
      const next = node.children.get(word) ?? { children: new Map() };
      node.children.set(word, next);
      node = next;
    }
    return node;
  };
  for (const verb of verbs) {
    place(verb.name).verb = verb;
    for (const alias of verb.sets ? [] : (verb.operation["x-aliases"] ?? []))
      Object.assign(place(alias), { verb, alias });
  }
  return root;
}

const isRun = (verb: Verb) => verb.operation["x-run-type"] !== undefined;
const isBinary = (verb: Verb) => verb.operation.responses["200"]?.content?.["image/png"] !== undefined;
const isList = (verb: Verb) => verb.method === "GET" && /Page$/.test(refName(verb.answer) ?? "");
const holdsRun = (verb: Verb) => verb.method === "GET" && refName(verb.answer) === "Run";
const answerOf = (verb: Verb) => refName(verb.answer) ?? objectOf(verb.answer, "answered");
const ownInput = ({ input, inPath }: Verb) =>
  Object.keys(input.properties ?? {}).filter((field) => !inPath.includes(field));
const isOptional = (verb: Verb) => !(verb.input.required ?? []).some((field) => !verb.inPath.includes(field));

function signature(verb: Verb): string {
  const type = pascal(verb.name);
  if (isRun(verb)) {
    const kind = (input: string) =>
      isBinary(verb) ? `PictureOperation<${input}>` : `RunOperation<${input}, ${answerOf(verb)}>`;
    if (!verb.json || !verb.form) return kind(`${type}Input`);
    return `${kind(`${type}Input | ${type}Form`)} & {\n  /** With a JSON body; files are uploaded first. */\n  json: ${kind(`${type}Input`)};\n  /** With a form; files go with it. */\n  formData: ${kind(`${type}Form`)};\n}`;
  }
  const answer = isList(verb)
    ? `ListCall<${answerOf(verb)}>`
    : holdsRun(verb)
      ? `RunCall<${answerOf(verb)}>`
      : `Call<${answerOf(verb)}>`;
  const id = verb.inPath.length > 0 ? [`${verb.inPath[0]}: string`] : [];
  const input = ownInput(verb).length > 0 ? [`input${isOptional(verb) ? "?" : ""}: ${type}Input`] : [];
  return `(${[...id, ...input, "options?: CallOptions"].join(", ")}) => ${answer}`;
}

function doc(verb: Verb, alias?: string): string {
  const rules = verb.operation["x-rules"] ?? [];
  const lines = [
    `${verb.summary}.`,
    ...(alias ? [`The same as \`${verb.name}\`.`] : []),
    ...rules.map((rule) => `- ${rule}`),
    `@example await client.${alias ?? verb.name}(${exampleOf(verb)})`,
  ];
  return `/**\n${lines.map((line) => ` * ${line.replaceAll("*/", "*\\/")}`).join("\n")}\n */\n`;
}

function exampleOf(verb: Verb): string {
  const id = verb.inPath.length > 0 ? ['"01990c3e-2f00-7000-8000-6f0c1a2b3c4d"'] : [];
  const given = Object.entries(verb.example ?? {}).filter(([field]) => !verb.inPath.includes(field));
  const file = !verb.example && verb.form ? ['{ file: "desk.png" }'] : [];
  const input =
    given.length > 0 ? [`{ ${given.map(([field, value]) => `${field}: ${JSON.stringify(value)}`).join(", ")} }`] : file;
  return [...id, ...input].join(", ");
}

const indent = (text: string) => text.replaceAll("\n", "\n  ");

function typeTree(node: Node): string {
  const lines = [...node.children].map(([word, child]) => {
    const own = child.verb ? signature(child.verb) : "";
    const inner = child.children.size > 0 ? typeTree(child) : "";
    const type = [own.includes("=>") && inner ? `(${own})` : own, inner].filter(Boolean).join(" & ");
    return indent(`${child.verb ? doc(child.verb, child.alias) : ""}${word}: ${type};`);
  });
  return `{\n  ${lines.join("\n  ")}\n}`;
}

const constantOf = (name: string) =>
  name
    .replaceAll(".", "_")
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toUpperCase();

function maker(verb: Verb): string {
  const operation = constantOf(verb.name);
  if (isRun(verb)) return `${verb.json && verb.form ? "callBoth" : "callRun"}(connection, ${operation})`;
  const made = `${isList(verb) ? "callList" : holdsRun(verb) ? "callRun" : "call"}(connection, ${operation})`;
  if (verb.inPath.length === 0) return made;
  return `${ownInput(verb).length > 0 ? "byIdWith" : "byId"}(${made}, "${verb.inPath[0]}")`;
}

function valueTree(node: Node): string {
  const lines = [...node.children].map(([word, child]) => {
    const own = child.verb ? (child.alias ? last(child.verb.name) : maker(child.verb)) : "";
    const inner = child.children.size > 0 ? valueTree(child) : "";
    return `${word}: ${own && inner ? `Object.assign(${own}, ${indent(inner)})` : indent(own || inner)},`;
  });
  return `{\n  ${lines.map(indent).join("\n  ")}\n}`;
}

const last = (name: string) => name.split(".").at(-1)!;

function printGroup(group: string, verbs: Verb[]): string {
  const tree = treeOf(verbs);
  const aliased = verbs.filter((verb) => !verb.sets && verb.operation["x-aliases"]);
  const type = pascal(group);
  const body = [
    ...verbs.map(printInputs).filter(Boolean),
    `/** The operations \`${group === "videos" ? "generateVideo" : `${group}.*`}\`. */\nexport type ${type} = ${typeTree(tree)};`,
    ...verbs.map((verb) => `const ${constantOf(verb.name)}: Operation = ${printOperation(verb)};`),
    `/**\n * The operations of this group on a connection of their own.\n * @example const ${group} = ${group}Of(connect({ baseUrl, apiKey }))\n */\nexport function ${group}Of(connection: Connection): ${type} {\n${aliased.map((verb) => `  const ${last(verb.name)} = ${maker(verb)};\n`).join("")}  return ${indent(withAliases(valueTree(tree), aliased))} as unknown as ${type};\n}`,
  ].join("\n\n");
  return `${HEAD}${importsFor(body)}\n${body}\n`;
}

const withAliases = (text: string, aliased: Verb[]) =>
  aliased.reduce((all, verb) => all.replace(`${last(verb.name)}: ${maker(verb)},`, `${last(verb.name)},`), text);

function importsFor(body: string): string {
  const used = (names: string[]) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(body));
  const line = (what: string, names: string[], from: string) =>
    names.length > 0 ? `import ${what}{ ${names.join(", ")} } from "${from}";\n` : "";
  const types = used(["Call", "ListCall", "PictureOperation", "RunCall", "RunOperation"]);
  const makers = used(["byId", "byIdWith", "call", "callBoth", "callList", "callRun"]).filter((name) =>
    body.includes(`${name}(`),
  );
  const shapes = [...body.matchAll(/(?:RunOperation<[^,]+?, |ListCall<|RunCall<|Call<)(\w+)>/g)].map(
    (match) => match[1]!,
  );
  return [
    line("", [...makers, ...types.map((name) => `type ${name}`)], "../call.ts"),
    line("type ", ["Connection"], "../connection.ts"),
    line("type ", ["Operation"], "../operation.ts"),
    line("type ", used(["CallOptions"]), "../settings.ts"),
    line("type ", used(["FileSource", "ImageSource"]), "../sources.ts"),
    line("type ", [...new Set([...shapes, ...used(["RunFields"])])].sort(), "./shapes.ts"),
  ].join("");
}

/** The operation as data: only what a client can use. */
function printOperation(verb: Verb): string {
  const { json, form, operation } = verb;
  const text = (schema: Schema) => JSON.stringify(schema);
  const rulesOf = (schema: Schema | undefined) => (schema?.allOf ?? []).filter((rule) => Object.keys(rule).length > 0);
  const inBoth =
    json && form
      ? rulesOf(json).filter((rule) => rulesOf(form).some((other) => text(other) === text(rule)))
      : rulesOf(json ?? form);
  const only = (schema: Schema | undefined) =>
    rulesOf(schema).filter((rule) => !inBoth.some((other) => text(other) === text(rule)));
  const [jsonRules, formRules] = json && form ? [only(json), only(form)] : [[], []];
  const presets = jsonRules
    .flatMap((rule) => rule.required ?? [])
    .flatMap((field) => {
      const preset = verb.input.properties?.[field]?.default;
      return preset === undefined ? [] : [[field, preset]];
    });
  const bodies = [json && "json", form && "form"].filter(Boolean);
  return JSON.stringify({
    name: verb.name,
    method: verb.method,
    path: verb.path,
    ...(bodies.length > 0 && { bodies }),
    ...(operation.parameters?.some(({ name }) => name === "Idempotency-Key") && { creates: true }),
    ...(isBinary(verb) && { binary: true }),
    ...(verb.input.properties?.sync?.default === true && { waits: true }),
    ...(verb.sets && { sets: verb.sets }),
    ...(presets.length > 0 && { presets: Object.fromEntries(presets) }),
    fields: rulesOnly(verb.input),
    ...(inBoth.length > 0 && { rules: inBoth }),
    ...(jsonRules.length > 0 && { jsonRules }),
    ...(formRules.length > 0 && { formRules }),
  });
}

const KEPT = [
  "type",
  "enum",
  "const",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "required",
] as const;

/** A schema without words and defaults. Addresses and times are left to the server. */
function rulesOnly(schema: Schema): Record<string, unknown> {
  const kept = Object.fromEntries(
    KEPT.filter(
      (key) =>
        (schema[key] !== undefined && !(Array.isArray(schema[key]) && schema[key].length === 0) && schema[key] !== 0) ||
        (key === "minimum" && schema[key] === 0),
    ).map((key) => [key, schema[key]]),
  );
  const place =
    schema.format === "binary"
      ? "file"
      : schema["x-widget"] === "image"
        ? schema["x-inline"]
          ? "inline"
          : "image"
        : undefined;
  const mapped = Object.entries(schema.properties ?? {}).map(([field, own]) => [field, rulesOnly(own)]);
  if (place) return { is: place, ...(schema["x-body"] && { form: true }) };
  return {
    ...kept,
    ...(schema.format === "uuid"
      ? { format: "uuid" }
      : schema.pattern && !schema.format && { pattern: schema.pattern }),
    ...(schema["x-body"] && { form: true }),
    ...(schema.items && { items: rulesOnly(schema.items) }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map(rulesOnly) }),
    ...(mapped.length > 0 && { properties: Object.fromEntries(mapped) }),
  };
}

function printAssembly(groups: string[]): string {
  const lists = groups.filter((group) => group !== "videos");
  const imports = groups.map((group) => `import { type ${pascal(group)}, ${group}Of } from "./${group}.ts";`);
  const exports = groups.map(
    (group) => `export type * from "./${group}.ts";\nexport { ${group}Of } from "./${group}.ts";`,
  );
  return `${HEAD}import type { Connection } from "../connection.ts";
${imports.join("\n")}

${exports.join("\n")}
export type * from "./shapes.ts";

/** Every operation, under its name in the interface. */
export type Operations = {
  ${lists.map((group) => `${group}: ${pascal(group)};`).join("\n  ")}
} & Videos;

/** All groups on one connection. */
export const operationsOf = (connection: Connection): Operations => ({
  ${lists.map((group) => `${group}: ${group}Of(connection),`).join("\n  ")}
  ...videosOf(connection),
});
`;
}

function printApi(verbs: Verb[]): string {
  const lines = verbs.flatMap((verb) => {
    const names = [verb.name, ...(verb.sets ? [] : (verb.operation["x-aliases"] ?? []))];
    const both = isRun(verb) && verb.json && verb.form ? ", `.json`, `.formData`" : "";
    const answer = isBinary(verb) ? "Media" : answerOf(verb).split("\n")[0];
    return names.map(
      (name) => `| \`client.${name}\`${both} | \`${verb.method} ${verb.path}\` | \`${answer}\` | ${verb.summary} |`,
    );
  });
  return `<!-- ${PRINTED} -->\n\n# Everything the client can call\n\nAwaited, a call is the answer; the ones that make runs also have \`.wait()\`.\n\n| Call | Request | Answer | What it does |\n|---|---|---|---|\n${lines.join("\n")}\n`;
}
