// Generates the Python client from the OpenAPI description: types, descriptions of operations and thin methods. The
// synchronous client is derived from the asynchronous one: see python-sync.ts.
import { listKnownNames } from "./client-names.ts";
import {
  type ClientOperation,
  type Contract,
  listClientOperations,
  refName,
  type Schema,
  toPascalCase,
  typeName,
} from "./client-operations.ts";
import { GENERATED_NOTICE } from "./markdown.ts";
import { createDeclarations, declare, pythonName } from "./python-declarations.ts";
import { deriveSyncFiles } from "./python-sync.ts";

const FOLDER = "python/src/gesso";
const FUTURE = "from __future__ import annotations\n";
const head = (says: string) => `# ${GENERATED_NOTICE}\n"""${says}"""\n\n${FUTURE}\n`;

export function generatePythonClient(contract: object): Record<string, string> {
  const operations = listClientOperations(contract as Contract);
  const groups = generateGroups(contract as Contract, operations);
  return {
    [`${FOLDER}/_generated/names.py`]: generateNames(contract as Contract, operations),
    [`${FOLDER}/_generated/results.py`]: generateResults(contract as Contract, operations),
    [`${FOLDER}/_generated/events.py`]: generateEvents(contract as Contract),
    [`${FOLDER}/_generated/inputs.py`]: generateInputs(contract as Contract, operations),
    [`${FOLDER}/_generated/operations.py`]: generateOperations(operations),
    [`${FOLDER}/_async/_groups.py`]: groups,
    ...deriveSyncFiles(FOLDER, groups),
  };
}

const isRun = ({ operation }: ClientOperation) =>
  operation["x-run-type"] !== undefined || operation["x-creates-run"] === true;
const isStream = ({ operation }: ClientOperation) =>
  Object.keys(operation.responses["200"]?.content ?? {})[0] === "text/event-stream";
const isPage = (verb: ClientOperation) => verb.method === "GET" && /Page$/.test(refName(verb.responseSchema) ?? "");
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const constant = ({ name }: ClientOperation) => snake(name.replaceAll(".", "_")).toUpperCase();
const ownFields = ({ input, inPath }: ClientOperation) =>
  Object.keys(input.properties ?? {}).filter((field) => !inPath.includes(field));
const inputName = ({ name }: ClientOperation) => `${toPascalCase(name)}Input`;
const resultName = (verb: ClientOperation) =>
  refName(verb.responseSchema) ?? (isRun(verb) ? "Run" : `${toPascalCase(verb.name)}Response`);

function generateNames(contract: Contract, operations: ClientOperation[]): string {
  const types = Object.entries(listKnownNames(contract, operations)).map(([name, { says, words, isOpen }]) => {
    const known = `Literal[\n${words.map((word) => `    ${JSON.stringify(word)},\n`).join("")}]`;
    return `#: ${says}\n${name} = ${isOpen ? `Union[${known}, str]` : known}`;
  });
  return `${head("Names of the API.")}from typing import Literal, Union\n\n${types.join("\n\n")}\n`;
}

const RESULT_IMPORTS = `from dataclasses import dataclass
from typing import Any, Literal

from .._results import Result
from .names import ErrorCode, ModelName, RunType, Scope
`;

function generateResults({ components }: Contract, operations: ClientOperation[]): string {
  const own = createDeclarations("answered");
  const { schemas } = components;
  const run = schemas.Run!;
  const runFields = Object.keys(run.properties ?? {});
  const isSame = (schema: Schema, field: string) =>
    JSON.stringify(schema.properties?.[field]) === JSON.stringify(run.properties?.[field]);
  declare("Run", run, own);
  for (const [name, schema] of Object.entries(schemas)) {
    if (["Event", "EventPage", "RunOutputReference"].includes(name) || name.endsWith("Page")) continue;
    const holdsRun = name !== "Run" && runFields.every((field) => isSame(schema, field));
    declare(typeName(name), schema, own, holdsRun ? { base: "Run", inherited: runFields } : {});
  }
  for (const verb of operations) {
    const entry = entrySchema(verb, schemas);
    if (entry && !entry.$ref) declare(entryName(verb, schemas), entry, own);
    const isPlain = !isRun(verb) && !isStream(verb) && !refName(verb.responseSchema);
    if (isPlain) declare(resultName(verb), verb.responseSchema, own);
  }
  const types = [...own.types.values()].join("\n\n\n");
  return `${head("What the API returns.")}${RESULT_IMPORTS}\n\n${types}\n\n\n${[...own.parts.values()].join("\n")}\n`;
}

/** The entries of a list. */
function entrySchema(verb: ClientOperation, schemas: Record<string, Schema>): Schema | undefined {
  return isPage(verb) ? schemas[refName(verb.responseSchema)!]?.properties?.data?.items : undefined;
}

const entryName = (verb: ClientOperation, schemas: Record<string, Schema>) =>
  refName(entrySchema(verb, schemas)) ?? `${refName(verb.responseSchema)}Entry`;

function generateEvents({ components, ...contract }: Contract): string {
  const own = createDeclarations("answered");
  const typeOf = (type: string) => (type.startsWith("run.") ? "RunEvent" : `${toPascalCase(type)}Event`);
  const { type: _type, data: _data, ...common } = components.schemas.Event!.properties ?? {};
  const byName = Map.groupBy(Object.entries(contract["x-events"]), ([type]) => typeOf(type));
  for (const [name, entries] of byName) {
    const properties: Record<string, Schema> = {
      id: { type: "string", description: "Position in the stream. Pass it as `after` to continue from there" },
      type: name === "RunEvent" ? { type: "string", enum: entries.map(([type]) => type) } : { const: entries[0]![0] },
      ...common,
      data: entries[0]![1],
    };
    const description = `The event${entries.length > 1 ? "s" : ""} ${entries.map(([type]) => type).join(", ")}.`;
    declare(name, { description, properties, required: Object.keys(properties) }, own);
  }
  const other: Record<string, Schema> = { id: { type: "string" }, type: { type: "string" }, ...common };
  const properties = { ...other, data: { type: "object" } };
  declare(
    "OtherEvent",
    { description: "An event of a newer server.", properties, required: Object.keys(properties) },
    own,
  );
  const kinds = Object.keys(contract["x-events"]).map((type) => `    ${JSON.stringify(type)}: ${typeOf(type)},`);
  const names = [...byName.keys(), "OtherEvent"];
  const types = `${[...own.types.values()].join("\n\n\n")}\n\n\n${[...own.parts.values()].join("\n")}`;
  // A response that an event has too is the same class.
  const results = Object.keys(components.schemas)
    .map(typeName)
    .filter((name) => name !== "Event" && new RegExp(`(: |\\[|\\| )${name}\\b`).test(types));
  return `${head("Events of streams and webhooks.")}${RESULT_IMPORTS.replace("Literal\n", "Literal, Union\n")}from .results import ${results.join(", ")}


${types}

#: An event. \`type\` tells which data it has.
Event = Union[${names.join(", ")}]

_KINDS: dict[str, type[Result]] = {
${kinds.join("\n")}
}


def read_event(event: dict[str, Any], id: str) -> Event:
    kind = _KINDS.get(str(event.get("type")), OtherEvent)
    return kind.from_dict({**event, "id": id})  # type: ignore[return-value]
`;
}

function generateInputs({ components: { schemas } }: Contract, operations: ClientOperation[]): string {
  const own = createDeclarations("sent", schemas);
  const making = operations.find(({ commonRunFields }) => commonRunFields.length > 0)!;
  const pick = (verb: ClientOperation, keeps: (field: string) => boolean): Schema => ({
    ...verb.input,
    properties: Object.fromEntries(Object.entries(verb.input.properties ?? {}).filter(([field]) => keeps(field))),
  });
  declare(
    "RunFields",
    pick(making, (field) => making.commonRunFields.includes(field)),
    own,
  );
  for (const verb of operations) {
    if (ownFields(verb).length === 0) continue;
    const isShared = verb.commonRunFields.length > 0;
    const schema = pick(verb, (field) => !verb.inPath.includes(field) && !verb.commonRunFields.includes(field));
    declare(inputName(verb), schema, own, isShared ? { base: "RunFields" } : {});
  }
  const types = [...own.types.values()].join("\n\n\n");
  return `${head("What the operations take.")}from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .._sources import FileSource, ImageSource, RunOutputReference
from .names import ModelName, RunType, Scope

if TYPE_CHECKING:
    from typing_extensions import Required


${types}
`;
}

/** Where images are in a value: the kind of the field, in a list for lists, in a dict for objects. */
function imageKind(schema: Schema): unknown {
  if (schema.format === "binary") return "file";
  if (schema["x-widget"] === "image") return schema["x-inline"] ? "inline" : "url";
  const choice = schema.anyOf?.map(imageKind).find(Boolean);
  if (choice) return choice;
  const items = schema.items && imageKind(schema.items);
  if (items) return [items];
  const fields = Object.entries(schema.properties ?? {}).map(([field, each]) => [field, imageKind(each)] as const);
  const known = fields.filter(([, kind]) => kind !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

const python = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}: ${python(each)}`)
      .join(", ")}}`;
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
};

function generateOperations(operations: ClientOperation[]): string {
  const lines = operations.map((verb) => {
    const { properties = {} } = verb.input;
    const bodies = /GET|DELETE/.test(verb.method) ? [] : [verb.json && "json", verb.form && "form"].filter(Boolean);
    const images = imageKind({ properties });
    const presets = ((verb.json?.allOf ?? []) as Schema[])
      .flatMap(({ required = [] }) => required)
      .filter((field) => verb.form && properties[field]?.default !== undefined)
      .map((field) => [field, properties[field]!.default]);
    // A call returns when the server has accepted it, and \`wait()\` waits.
    const defaults = {
      ...(isRun(verb) && properties.sync?.default === true && { sync: false }),
      ...Object.fromEntries(presets),
    };
    const parts = [
      ...[verb.name, verb.method, verb.path].map((text) => JSON.stringify(text)),
      bodies.length > 0 && `bodies=(${bodies.map((body) => `${JSON.stringify(body)},`).join(" ")})`,
      images && `images=${python(images)}`,
      verb.inPath.length > 0 && `path_fields=(${verb.inPath.map((field) => `${JSON.stringify(field)},`).join(" ")})`,
      verb.sets && `sets=${python(verb.sets)}`,
      Object.keys(defaults).length > 0 && `defaults=${python(defaults)}`,
    ];
    return `${constant(verb)} = Operation(${parts.filter(Boolean).join(", ")})`;
  });
  return `${head("The operations of the API.")}from .._operation import Operation\n\n${lines.join("\n")}\n`;
}

/** Operations as a tree. A node can be an operation and a group at once. */
type Node = { verbs: { name: string; verb: ClientOperation }[]; own?: ClientOperation; children: Map<string, Node> };
const createNode = (): Node => ({ verbs: [], children: new Map() });

function treeOf(operations: ClientOperation[]): Node {
  const root = createNode();
  const isGroup = (name: string) => operations.some((other) => other.name.startsWith(`${name}.`));
  const place = (words: string[]) => {
    let node = root;
    for (const word of words) {
      node.children.set(word, node.children.get(word) ?? createNode());
      node = node.children.get(word)!;
    }
    return node;
  };
  for (const verb of operations) {
    const words = verb.name.split(".");
    if (isGroup(verb.name)) place(words).own = verb;
    else place(words.slice(0, -1)).verbs.push({ name: words.at(-1)!, verb });
    for (const alias of verb.sets ? [] : (verb.operation["x-aliases"] ?? []))
      place(alias.split(".").slice(0, -1)).verbs.push({ name: alias.split(".").at(-1)!, verb });
  }
  return root;
}

const classOf = (path: string[]) => `Async${toPascalCase(path.join("."))}`;

/** Runs whose result has parts beside its files. */
const resultRun = (verb: ClientOperation) => `Async${toPascalCase(verb.name)}Run`;

function finishedRun(verb: ClientOperation): string {
  if (verb.operation["x-result-fields"]) return resultRun(verb);
  const type = verb.operation["x-run-type"];
  if (type === "video-generation") return "AsyncVideoRun";
  return type === undefined || type === "model" ? "AsyncFinishedRun" : "AsyncImageRun";
}

function generateResultRun(verb: ClientOperation, runFields: string[]): string {
  // The run's own field with the same name stays: the part is in `result`.
  const fields = (verb.operation["x-result-fields"] ?? []).filter((field) => !runFields.includes(field));
  const lines = fields.map(
    (field) => `    @property\n    def ${field}(self) -> Any:\n        return self._part("${field}")\n`,
  );
  return `class ${resultRun(verb)}(AsyncFinishedRun):\n    """A completed run of \`${verb.name}\`, with its result."""\n\n${lines.join("\n")}`.trimEnd();
}

function generateMethod(name: string, verb: ClientOperation): string {
  const { inPath } = verb;
  const hasInput = ownFields(verb).length > 0;
  const takesKey = verb.method === "POST" && (verb.json || verb.form);
  const parameters = [
    "self",
    ...inPath.map((field) => `${field}: str`),
    "*",
    ...(takesKey ? ["idempotency_key: str | None = None"] : []),
    "options: CallOptions | None = None",
    ...(hasInput ? [`**input: Unpack[${inputName(verb)}]`] : []),
  ];
  const path = inPath.map((field) => `"${field}": ${field}`).join(", ");
  const given = inPath.length > 0 ? (hasInput ? `{**input, ${path}}` : `{${path}}`) : hasInput ? "input" : "{}";
  const operation = `ops.${constant(verb)}`;
  const connection = "self._connection";
  const key = takesKey ? ", idempotency_key" : "";
  const [type, value] = isRun(verb)
    ? [
        `AsyncRunCall[${resultName(verb)}, ${finishedRun(verb)}]`,
        `AsyncRunCall(${connection}, ${operation}, ${resultName(verb)}, ${finishedRun(verb)}, ${given}, options${key})`,
      ]
    : isStream(verb)
      ? [
          `AsyncEventStream[${inPath.length > 0 ? "RunEvent" : "Event"}]`,
          `AsyncEventStream(${connection}, ${operation}, ${given}, options)`,
        ]
      : isPage(verb)
        ? [`AsyncPage[$ENTRY]`, `AsyncPage(${connection}, ${operation}, $ENTRY, ${given}, options)`]
        : [resultName(verb), `await ${connection}.call(${operation}, ${resultName(verb)}, ${given}, options${key})`];
  const keyword = value.startsWith("await") ? "async def" : "def";
  const rules = (verb.operation["x-rules"] ?? []).map((rule) => `\n\n        - ${rule}`).join("");
  return `    ${keyword} ${pythonName(snake(name))}(\n        ${parameters.join(", ")}\n    ) -> ${type}:\n        """${verb.summary}.${rules}"""\n        return ${value}\n`;
}

function generateClasses(node: Node, path: string[], entry: (verb: ClientOperation) => string): string[] {
  const inner = [...node.children].flatMap(([word, child]) => generateClasses(child, [...path, word], entry));
  const isRoot = path.length === 0;
  const methods = [
    ...(node.own ? [generateMethod("__call__", node.own)] : []),
    ...node.verbs.map(({ name, verb }) => generateMethod(name, verb)),
  ].map((method, index) => {
    const verb = node.own ? (index === 0 ? node.own : node.verbs[index - 1]!.verb) : node.verbs[index]!.verb;
    return method.replaceAll("$ENTRY", isPage(verb) ? entry(verb) : "");
  });
  const children = [...node.children.keys()].map(
    (word) => `        self.${word} = ${classOf([...path, word])}(connection)`,
  );
  const says = isRoot ? "All operations by name." : `The operations \`${path.join(".")}.*\`.`;
  const base = path.join() === "webhooks" ? "(WebhookVerifier)" : "";
  const name = isRoot ? "AsyncOperations" : classOf(path);
  const lines = [
    `class ${name}${base}:\n    """${says}"""\n`,
    `    def __init__(self, connection: AsyncConnection) -> None:\n        self._connection = connection`,
    ...children,
  ];
  return [...inner, `${lines.join("\n")}\n\n${methods.join("\n")}`.trimEnd()];
}

function generateGroups({ components }: Contract, operations: ClientOperation[]): string {
  const runs = operations
    .filter((verb) => verb.operation["x-result-fields"])
    .map((verb) => generateResultRun(verb, Object.keys(components.schemas.Run!.properties ?? {})));
  const entry = (verb: ClientOperation) => entryName(verb, components.schemas);
  const body = [...runs, ...generateClasses(treeOf(operations), [], entry)].join("\n\n\n");
  const imported = (from: string, names: Iterable<string>) => {
    const used = [...new Set(names)]
      .filter((name) => new RegExp(`[\\[ (]${name}[\\],)]| -> ${name}:`).test(body))
      .sort();
    return `from ${from} import (\n${used.map((name) => `    ${name},\n`).join("")})`;
  };
  const results = operations.map(resultName).concat(operations.filter(isPage).map(entry));
  return `${head("Thin methods for every operation.")}from typing import TYPE_CHECKING, Any

from .._generated import operations as ops
from .._generated.events import Event, RunEvent
${imported(
  ".._generated.results",
  results.filter((name) => name !== "Event"),
)}
from .._operation import CallOptions
from ..webhooks import WebhookVerifier
from ._connection import AsyncConnection
from ._pages import AsyncEventStream, AsyncPage
from ._runs import AsyncFinishedRun, AsyncImageRun, AsyncRunCall, AsyncVideoRun

if TYPE_CHECKING:
    from typing_extensions import Unpack

    ${imported(
      ".._generated.inputs",
      operations.filter((verb) => ownFields(verb).length > 0).map((verb) => inputName(verb)),
    ).replaceAll("\n", "\n    ")}


${body}
`;
}
