// The client, printed from the contract alone: a file for each group of operations, so that one can be had without the
// others, and a file that puts them together.
import { type Contract, pascal, refName, shapeName, type Verb, verbsOf } from "./client-contract.ts";
import { printOperation, printRunFields } from "./client-data.ts";
import { fieldGroupsOf, hasOwnForm, printFieldGroups, printInputs } from "./client-inputs.ts";
import { objectOf, printShapes } from "./client-shapes.ts";
import { PRINTED } from "./page.ts";

const FOLDER = "sdk/src/generated";
const HEAD = `// ${PRINTED}\n`;

export function printClient(contract: object): Record<string, string> {
  const verbs = verbsOf(contract as Contract);
  const groups = Map.groupBy(verbs, ({ name }) => (name.includes(".") ? name.split(".")[0]! : "videos"));
  const shared = fieldGroupsOf(verbs);
  const shapes = [...Object.keys(shared), ...Object.keys((contract as Contract).components.schemas).map(shapeName)];
  const files = [...groups].map(([group, own]) => {
    const inputs = own.map((verb) => printInputs(verb, own, shared)).filter(Boolean);
    return [`${FOLDER}/${group}.ts`, printGroup(group, own, { inputs, shapes })];
  });
  return {
    ...Object.fromEntries(files),
    [`${FOLDER}/shapes.ts`]: `${HEAD}// What many operations take, and what the server answers.\nimport type { ImageSource } from "../sources.ts";\n\n${printFieldGroups(verbs)}\n\n${printShapes(contract as Contract)}\n`,
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
const isStream = (verb: Verb) => Object.keys(verb.operation.responses["200"]?.content ?? {})[0] === "text/event-stream";
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
    const form = hasOwnForm(verb) ? [`${type}Form`] : [];
    return isBinary(verb)
      ? `PictureFormOperation<${[`${type}Input`, ...form].join(", ")}>`
      : `RunFormOperation<${[`${type}Input`, answerOf(verb), ...form].join(", ")}>`;
  }
  const answer = isStream(verb)
    ? "EventStream"
    : isList(verb)
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
    isStream(verb)
      ? `@example for await (const event of client.${verb.name}(${exampleOf(verb)})) console.log(event.type)`
      : `@example await client.${alias ?? verb.name}(${exampleOf(verb)})`,
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

function maker(verb: Verb): string {
  const operation = printOperation(verb);
  if (isRun(verb)) return `${verb.json && verb.form ? "callBoth" : "callRun"}(connection, ${operation})`;
  const kind = isStream(verb) ? "callStream" : isList(verb) ? "callList" : holdsRun(verb) ? "callRun" : "call";
  const made = `${kind}(connection, ${operation})`;
  if (verb.inPath.length === 0) return made;
  return `${ownInput(verb).length > 0 ? "byIdWith" : "byId"}(${made}, "${verb.inPath[0]}")`;
}

function valueTree(node: Node): string {
  const lines = [...node.children].map(([word, child]) => {
    const own = child.verb ? (isAliased(child.verb) ? last(child.verb.name) : maker(child.verb)) : "";
    const inner = child.children.size > 0 ? valueTree(child) : "";
    return indent(`${word}: ${own && inner ? `Object.assign(${own}, ${inner})` : own || inner},`);
  });
  return `{\n  ${lines.join("\n  ")}\n}`;
}

/** One function under several names. */
const isAliased = (verb: Verb) => !verb.sets && verb.operation["x-aliases"] !== undefined;
const last = (name: string) => name.split(".").at(-1)!;

function printGroup(group: string, verbs: Verb[], { inputs, shapes }: { inputs: string[]; shapes: string[] }): string {
  const tree = treeOf(verbs);
  const type = pascal(group);
  const constants = verbs.filter(isAliased).map((verb) => `const ${last(verb.name)} = ${maker(verb)};\n`);
  const made = indent(
    `\n${[printRunFields(verbs), ...constants].join("")}return ${valueTree(tree)} as unknown as ${type};`,
  );
  const types = [
    ...inputs,
    `/** The operations \`${group === "videos" ? "generateVideo" : `${group}.*`}\`. */\nexport type ${type} = ${typeTree(tree)};`,
  ].join("\n\n");
  const says = `/**\n * The operations of this group on a connection of their own.\n * @example const ${group} = ${group}Of(connect({ baseUrl, apiKey }))\n */`;
  const values = `${says}\nexport function ${group}Of(connection: Connection): ${type} {${made}\n}`;
  const imports = importsFor(types.replace(/\/\*\*[\s\S]*?\*\//g, ""), made, shapes);
  return `${HEAD}${imports}\n${types}\n\n${values}\n`;
}

const MAKERS = ["byId", "byIdWith", "call", "callBoth", "callList", "callRun"];
const STREAMS = ["callStream", "type EventStream"];
const CALLS = `Call ListCall PictureFormOperation PictureOperation RunCall RunFormOperation RunOperation`.split(" ");
const WORDS =
  `address boolean file inline integer like list needs number object one some text together uuid when words`.split(" ");

function importsFor(types: string, values: string, shapes: string[]): string {
  const inTypes = (names: string[]) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(types));
  const inValues = (names: string[]) => names.filter((name) => new RegExp(`[:([,] ?${name}[(, )\\]]`).test(values));
  const line = (what: string, names: string[], from: string) =>
    names.length > 0 ? `import ${what}{ ${names.join(", ")} } from "${from}";\n` : "";
  const makers = MAKERS.filter((name) => new RegExp(`\\b${name}\\(`).test(values));
  return [
    line("", [...makers, ...inTypes(CALLS).map((name) => `type ${name}`)], "../call.ts"),
    line("type ", ["Connection"], "../connection.ts"),
    line("", /\bcallStream\(/.test(values) ? STREAMS : [], "../events.ts"),
    line("", inValues(WORDS), "../fields.ts"),
    line("type ", inTypes(["CallOptions"]), "../settings.ts"),
    line("type ", inTypes(["FileSource", "ImageSource"]), "../sources.ts"),
    line("type ", inTypes(shapes).sort(), "./shapes.ts"),
  ].join("");
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
    const answer = isBinary(verb) ? "Media" : isStream(verb) ? "EventStream" : answerOf(verb).split("\n")[0];
    return names.map(
      (name) => `| \`client.${name}\`${both} | \`${verb.method} ${verb.path}\` | \`${answer}\` | ${verb.summary} |`,
    );
  });
  return `<!-- ${PRINTED} -->\n\n# Everything the client can call\n\nAwaited, a call is the answer; the ones that make runs also have \`.wait()\`.\n\n| Call | Request | Answer | What it does |\n|---|---|---|---|\n${lines.join("\n")}\n`;
}
