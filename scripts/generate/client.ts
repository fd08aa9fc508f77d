// Generates the TypeScript client from the OpenAPI description: one file per group of operations, which can be imported
// separately, and one file that combines them.

import { eventTypeNames, generateEventTypes } from "./client-events.ts";
import {
  collectFieldGroups,
  generateFieldGroups,
  generateInputTypes,
  hasOwnForm,
  modelRules,
} from "./client-inputs.ts";
import { generateOperation, generateRunFields } from "./client-metadata.ts";
import { generateNameTypes, generateRunInputs, NAME_TYPES } from "./client-names.ts";
import {
  type ClientOperation,
  type Contract,
  listClientOperations,
  refName,
  toPascalCase,
  typeName,
} from "./client-operations.ts";
import { generateResponseTypes, objectType } from "./client-responses.ts";
import { GENERATED_NOTICE } from "./markdown.ts";

const FOLDER = "sdk/src/generated";
const HEAD = `// ${GENERATED_NOTICE}\n`;

export function generateClient(contract: object): Record<string, string> {
  const verbs = listClientOperations(contract as Contract);
  const groups = Map.groupBy(verbs, ({ name }) => (name.includes(".") ? name.split(".")[0]! : "videos"));
  const shared = collectFieldGroups(verbs);
  const shapes = [
    ...["Requires", ...Object.keys(shared)],
    ...Object.keys((contract as Contract).components.schemas).map(typeName),
    ...eventTypeNames(contract as Contract),
    ...NAME_TYPES,
  ];
  const files = [...groups].map(([group, own]) => {
    const inputs = own
      .filter((verb) => !isInputElsewhere(verb))
      .map((verb) => generateInputTypes(verb, own, shared))
      .filter(Boolean);
    return [`${FOLDER}/${group}.ts`, generateGroup(group, own, { inputs, shapes })];
  });
  const elsewhere = verbs.filter(isInputElsewhere);
  const inputsElsewhere = new Map(elsewhere.map((verb) => [verb.name, generateInputTypes(verb, [verb], shared)]));
  return {
    ...Object.fromEntries(files),
    [`${FOLDER}/shapes.ts`]: `${HEAD}// What many operations take, and what the server answers.\nimport type { ImageSource } from "../sources.ts";\n\n${[generateFieldGroups(verbs), generateNameTypes(contract as Contract, verbs), generateEventTypes(contract as Contract), generateResponseTypes(contract as Contract)].join("\n\n")}\n`,
    [`${FOLDER}/run-fields.ts`]: `${HEAD}import { arrayOf, boolean, enumOf, number, object, text } from "../schema-builders.ts";\n\n${generateRunFields(verbs)}`,
    [`${FOLDER}/run-inputs.ts`]: `${HEAD}${generateRunInputs(verbs, inputsElsewhere)}`,
    [`${FOLDER}/client.ts`]: generateClientFile([...groups.keys()]),
    "sdk/api.md": generateMethodList(verbs),
  };
}

/** Operations as a tree. A node can be an operation and a group at once. */
type Node = { verb?: ClientOperation; alias?: string; children: Map<string, Node> };

function treeOf(operations: ClientOperation[]): Node {
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
  for (const verb of operations) {
    place(verb.name).verb = verb;
    for (const alias of verb.sets ? [] : (verb.operation["x-aliases"] ?? []))
      Object.assign(place(alias), { verb, alias });
  }
  return root;
}

/** The input of `runs.estimate` has the inputs of all runs, so those of its own group cannot be in its file. */
const isInputElsewhere = (verb: ClientOperation) => isRun(verb) && verb.name.startsWith("runs.");
const isRun = (verb: ClientOperation) => verb.operation["x-run-type"] !== undefined;
const isBinary = (verb: ClientOperation) => verb.operation.responses["200"]?.content?.["image/png"] !== undefined;
const isList = (verb: ClientOperation) => verb.method === "GET" && /Page$/.test(refName(verb.responseSchema) ?? "");
const isStream = (verb: ClientOperation) =>
  Object.keys(verb.operation.responses["200"]?.content ?? {})[0] === "text/event-stream";
const holdsRun = (verb: ClientOperation) =>
  verb.operation["x-creates-run"] === true || (verb.method === "GET" && refName(verb.responseSchema) === "Run");
const answerOf = (verb: ClientOperation) => refName(verb.responseSchema) ?? objectType(verb.responseSchema, "answered");
const ownInput = ({ input, inPath }: ClientOperation) =>
  Object.keys(input.properties ?? {}).filter((field) => !inPath.includes(field));
const isOptional = (verb: ClientOperation) =>
  !(verb.input.required ?? []).some((field) => !verb.inPath.includes(field));

/** The run that `.wait()` returns: with the image or video that such a run always has, or with its other result. */
function finishedRunOf(verb: ClientOperation): string {
  const fields = verb.operation["x-result-fields"];
  if (fields)
    return `FinishedRun & Required<Pick<${answerOf(verb)}, ${fields.map((field) => JSON.stringify(field)).join(" | ")}>>`;
  const type = verb.operation["x-run-type"];
  // What an imported model makes, only its schema says.
  return type === "video-generation" ? "VideoRun" : type === "model" ? "FinishedRun" : "ImageRun";
}

function signature(verb: ClientOperation): string {
  const type = toPascalCase(verb.name);
  if (isRun(verb)) {
    const rules = modelRules(verb);
    if (rules && !verb.form)
      return `ModelOperation<${type}Input, ${JSON.stringify(rules.field)}, ${type}Rules, ${answerOf(verb)}, ${finishedRunOf(verb)}>`;
    const kind = (input: string) =>
      isBinary(verb) ? `ImageOperation<${input}>` : `RunOperation<${input}, ${answerOf(verb)}, ${finishedRunOf(verb)}>`;
    if (!verb.json || !verb.form) return kind(`${type}Input`);
    const form = hasOwnForm(verb) ? [`${type}Form`] : [];
    return isBinary(verb)
      ? `ImageFormOperation<${[`${type}Input`, ...form].join(", ")}>`
      : `RunFormOperation<${[`${type}Input`, answerOf(verb), finishedRunOf(verb), ...form].join(", ")}>`;
  }
  const answer = isStream(verb)
    ? verb.inPath.length > 0
      ? "EventStream<RunEvent>"
      : "EventStream"
    : isList(verb)
      ? `ListCall<${answerOf(verb)}>`
      : holdsRun(verb)
        ? `RunCall<${answerOf(verb)}>`
        : `Call<${answerOf(verb)}>`;
  const id = verb.inPath.length > 0 ? [`${verb.inPath[0]}: string`] : [];
  const input = ownInput(verb).length > 0 ? [`input${isOptional(verb) ? "?" : ""}: ${type}Input`] : [];
  return `(${[...id, ...input, "options?: CallOptions"].join(", ")}) => ${answer}`;
}

function doc(verb: ClientOperation, alias?: string): string {
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

function exampleOf(verb: ClientOperation): string {
  const inPath = verb.operation.parameters?.find(({ name }) => name === verb.inPath[0]);
  const id = inPath ? [JSON.stringify(inPath.example ?? "01990c3e-2f00-7000-8000-6f0c1a2b3c4d")] : [];
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

function callExpression(verb: ClientOperation): string {
  const operation = generateOperation(verb);
  if (isRun(verb)) return `${verb.json && verb.form ? "callJsonOrForm" : "callRun"}(connection, ${operation})`;
  const kind = isStream(verb) ? "callStream" : isList(verb) ? "callList" : holdsRun(verb) ? "callRun" : "call";
  const made = `${kind}(connection, ${operation})`;
  if (verb.inPath.length === 0) return ownInput(verb).length > 0 ? made : `withoutInput(${made})`;
  return `${ownInput(verb).length > 0 ? "withIdAndInput" : "withIdArgument"}(${kind}, connection, ${operation})`;
}

function valueTree(node: Node): string {
  const lines = [...node.children].map(([word, child]) => {
    const own = child.verb ? (isAliased(child.verb) ? last(child.verb.name) : callExpression(child.verb)) : "";
    const inner = child.children.size > 0 ? valueTree(child) : "";
    return indent(`${word}: ${own && inner ? `Object.assign(${own}, ${inner})` : own || inner},`);
  });
  return `{\n  ${lines.join("\n  ")}\n}`;
}

/** An operation with several names. */
const isAliased = (verb: ClientOperation) => !verb.sets && verb.operation["x-aliases"] !== undefined;
const last = (name: string) => name.split(".").at(-1)!;

function generateGroup(
  group: string,
  operations: ClientOperation[],
  { inputs, shapes }: { inputs: string[]; shapes: string[] },
): string {
  const tree = treeOf(operations);
  const type = toPascalCase(group);
  const constants = operations.filter(isAliased).map((verb) => `const ${last(verb.name)} = ${callExpression(verb)};\n`);
  const made = indent(`\n${constants.join("")}return ${valueTree(tree)} as unknown as ${type};`);
  const types = [
    ...inputs,
    `/** The operations \`${group}.*\`${group === "videos" ? ", and `generateVideo`" : ""}. */\nexport type ${type} = ${typeTree(tree)};`,
  ].join("\n\n");
  const says = `/**\n * The operations of this group on a connection of their own.\n * @example const ${group} = ${group}Of(connect({ baseUrl, apiKey }))\n */`;
  const values = `${says}\nexport function ${group}Of(connection: Connection): ${type} {${made}\n}`;
  const imports = importsFor(types.replace(/\/\*\*[\s\S]*?\*\//g, ""), made, shapes);
  return `${HEAD}${imports}\n${types}\n\n${values}\n`;
}

const CALL_FUNCTIONS = [
  "withIdArgument",
  "withIdAndInput",
  "withoutInput",
  "call",
  "callJsonOrForm",
  "callList",
  "callRun",
];
const STREAMS = ["callStream", "type EventStream"];
const CALLS =
  `Call ImageFormOperation ImageOperation ListCall ModelOperation RunCall RunFormOperation RunOperation`.split(" ");
const FINISHED_RUNS = ["FinishedRun", "ImageRun", "VideoRun"];
const FIELD_RULES = ["allOrNone", "allRequired", "anyRequired", "exactlyOneRequired", "ifEquals", "within"];
const SCHEMA_BUILDERS =
  `arrayOf boolean enumOf file imageInput imageUrl integer matching number object orNull text uuid`.split(" ");

function importsFor(types: string, values: string, shapes: string[]): string {
  const inTypes = (names: string[]) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(types));
  const inValues = (names: string[]) => names.filter((name) => new RegExp(`[:([,] ?${name}[(, )\\]]`).test(values));
  const line = (what: string, names: string[], from: string) =>
    names.length > 0 ? `import ${what}{ ${names.join(", ")} } from "${from}";\n` : "";
  const isCalled = (name: string) => new RegExp(`\\b${name}(\\(|, connection,)`).test(values);
  return [
    line("", [...CALL_FUNCTIONS.filter(isCalled), ...inTypes(CALLS).map((name) => `type ${name}`)], "../call.ts"),
    line("type ", ["Connection"], "../connection.ts"),
    line("", isCalled("callStream") ? STREAMS : [], "../event-streams.ts"),
    line("", inValues(FIELD_RULES), "../field-rules.ts"),
    line("", inValues(["imageSources"]), "../image-sources.ts"),
    line("", inValues(SCHEMA_BUILDERS), "../schema-builders.ts"),
    line("type ", inTypes(["CallOptions"]), "../settings.ts"),
    line("type ", inTypes(["FileSource", "ImageSource"]), "../sources.ts"),
    line("type ", inTypes(FINISHED_RUNS), "../wait-for-run.ts"),
    line("", values.includes("...runFields") ? ["runFields"] : [], "./run-fields.ts"),
    line("type ", inTypes(["RunInputs", "RunsCreateInput"]), "./run-inputs.ts"),
    line("type ", inTypes(shapes).sort(), "./shapes.ts"),
  ].join("");
}

function generateClientFile(groups: string[]): string {
  const imports = groups.map((group) => `import { type ${toPascalCase(group)}, ${group}Of } from "./${group}.ts";`);
  const exports = groups.map(
    (group) => `export type * from "./${group}.ts";\nexport { ${group}Of } from "./${group}.ts";`,
  );
  return `${HEAD}import type { Connection } from "../connection.ts";
${imports.join("\n")}

${exports.join("\n")}
export type * from "./run-inputs.ts";
export type * from "./shapes.ts";

/** All operations by name. */
export type Operations = {
  ${groups.map((group) => `${group}: ${toPascalCase(group)};`).join("\n  ")}
} & Pick<Videos, "generateVideo">;

/** All groups on one connection. */
export function operationsOf(connection: Connection): Operations {
  const videos = videosOf(connection);
  return {
    ${groups.map((group) => (group === "videos" ? "videos," : `${group}: ${group}Of(connection),`)).join("\n    ")}
    generateVideo: videos.generateVideo,
  };
}
`;
}

function generateMethodList(operations: ClientOperation[]): string {
  const lines = operations.flatMap((verb) => {
    const names = [verb.name, ...(verb.sets ? [] : (verb.operation["x-aliases"] ?? []))];
    const both = isRun(verb) && verb.json && verb.form ? ", `.json`, `.formData`" : "";
    const answer = isBinary(verb) ? "Media" : isStream(verb) ? "EventStream" : answerOf(verb).split("\n")[0];
    return names.map(
      (name) => `| \`client.${name}\`${both} | \`${verb.method} ${verb.path}\` | \`${answer}\` | ${verb.summary} |`,
    );
  });
  return `<!-- ${GENERATED_NOTICE} -->\n\n# Client methods\n\nAwait a call to get its response. Calls that create runs also have \`.wait()\`.\n\n| Call | Request | Answer | What it does |\n|---|---|---|---|\n${lines.join("\n")}\n`;
}
