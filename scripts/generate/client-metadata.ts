// Generates the runtime metadata of operations for the client, with the builders of `sdk/src/schema-builders.ts` and
// the rules of `sdk/src/field-rules.ts`. It is inside the factory of a group, so that bundlers remove unused groups.
import type { ClientOperation, Schema } from "./client-operations.ts";

const text = (value: unknown) => JSON.stringify(value);
const call = (word: string, ...values: unknown[]) => `${word}(${values.map(text).join(", ")})`;
const isName = (field: string) => /^[A-Za-z_$][\w$]*$/.test(field);

export function generateOperation(verb: ClientOperation): string {
  const { json, form, operation } = verb;
  const [both, jsonRules, formRules] = rulesOf(verb);
  const presets = jsonRules
    .flatMap((rule) => rule.required ?? [])
    .flatMap((field) => {
      const preset = verb.input.properties?.[field]?.default;
      return preset === undefined ? [] : [[field, preset]];
    });
  const bodies = [json && "json", form && "form"].filter(Boolean).join(" ");
  const takesKey = operation.parameters?.some(({ name }) => name === "Idempotency-Key") ?? false;
  // The client derives both from the method and the body.
  if (takesKey !== (verb.method === "POST" && bodies !== ""))
    throw new Error(`${verb.name}: unexpected idempotency key`);
  if (bodies !== "" && /GET|DELETE/.test(verb.method)) throw new Error(`${verb.name}: unexpected body`);
  const { properties = {} } = verb.input;
  const required = (verb.input.required ?? []).filter((field) => !verb.inPath.includes(field));
  const lines = {
    name: text(verb.name),
    method: verb.method === "POST" ? "" : text(verb.method),
    path: text(verb.path),
    // `callJsonOrForm` sets both.
    bodies: bodies === "json" || /GET|DELETE/.test(verb.method) || (json && form) ? "" : text(bodies),
    images: !(json && form) && (form || hasImages(verb.input)) ? "imageSources" : "",
    returnsBytes: operation.responses["200"]?.content?.["image/png"] ? "true" : "",
    isSyncByDefault: properties.sync?.default === true ? "true" : "",
    sets: verb.sets ? text(verb.sets) : "",
    defaults: presets.length > 0 ? text(Object.fromEntries(presets)) : "",
    required: required.length > 0 ? text(required) : "",
    fields: printFields(properties, verb.commonRunFields),
    rules: printRules(both),
    jsonRules: printRules(jsonRules),
    formRules: printRules(formRules),
  };
  const present = Object.entries(lines).filter(([, value]) => value !== "");
  return `{\n${present.map(([name, value]) => `  ${name}: ${value},`).join("\n")}\n}`;
}

/** Whether any field, at any depth, is an image or a file. */
const hasImages = (schema: Schema): boolean =>
  schema.format === "binary" ||
  schema["x-widget"] === "image" ||
  [schema.items, ...(schema.anyOf ?? []), ...Object.values(schema.properties ?? {})].some(
    (part) => part !== undefined && hasImages(part),
  );

/** The fields that all operations with runs have: one declaration, which every group of operations imports. */
export function generateRunFields(operations: ClientOperation[]): string {
  const declarations = operations
    .filter(({ commonRunFields: ofRun }) => ofRun.length > 0)
    .map(({ input, commonRunFields: ofRun }) => {
      const fields = Object.entries(input.properties ?? {}).filter(([field]) => ofRun.includes(field));
      return printFields(Object.fromEntries(fields));
    });
  if (new Set(declarations).size !== 1) throw new Error("The common fields of runs differ between operations.");
  return `export const runFields = ${declarations[0]};\n`;
}

function printFields(properties: Record<string, Schema>, ofRun: string[] = []): string {
  const own = Object.entries(properties).filter(([field]) => !ofRun.includes(field));
  const parts = own.map(([field, schema]) => `${isName(field) ? field : text(field)}: ${generateField(schema)}`);
  return `{ ${[...parts, ...(ofRun.length > 0 ? ["...runFields"] : [])].join(", ")} }`;
}

/** Without descriptions and defaults. Timestamps and URLs are validated by the server only. */
function generateField(schema: Schema): string {
  if (schema.format === "binary") return "file";
  if (schema["x-widget"] === "image") return schema["x-inline"] ? "imageInput" : "imageUrl";
  const plain = printPlain(schema);
  return schema["x-body"] ? `{ ...${plain}, form: true }` : plain;
}

/** IDs of end users, customers and tags, which most operations have: only the server checks them. */
const OWN_ID = "^[^\\p{C}\\p{Zl}\\p{Zp}]{1,128}$";

const isAnyText = ({ type, enum: known }: Schema) => type === "string" && !known;

function printPlain(schema: Schema): string {
  const { type, enum: known, minLength = 0, maxLength, format, minItems = 0, maxItems, items, properties } = schema;
  // Beside any name, known names are for people. Which other names are valid, only the server knows.
  const isOpenName = schema.anyOf?.some((each) => each.enum) && schema.anyOf.some(isAnyText);
  if (isOpenName) return "text()";
  if (schema.anyOf) {
    const choices = schema.anyOf.map((each) => (each.$ref ? "object" : generateField(each)));
    return choices.length === 2 && choices[1] === "nothing"
      ? `orNull(${choices[0]})`
      : `{ anyOf: [${choices.join(", ")}] }`;
  }
  if (schema.const !== undefined) return text({ type, const: schema.const });
  if (known) return type === "string" ? call("enumOf", ...known) : text({ type, enum: known });
  if (format === "uuid" || type === "boolean") return format ?? String(type);
  if (type === "integer" || type === "number") return bounded(type, schema);
  if (type === "array") return `arrayOf(${generateField(items ?? {})}, ${minItems}, ${maxItems ?? "Infinity"})`;
  if (type === "object" && properties) {
    return `{ type: "object", required: ${text(schema.required ?? [])}, properties: ${printFields(properties)} }`;
  }
  if (type === "object") return "object";
  if (type === "null") return "nothing";
  if (type !== "string") return text({ type });
  // The length of a secret is counted in bytes, which only the server does.
  if (schema.writeOnly) return "text()";
  const pattern = format ? undefined : schema.pattern;
  if (pattern === OWN_ID) return "text()";
  // A list of known names, as text: the server explains which of them there are, and browsers load less.
  if (pattern && /^\^\((\w+\|){3,}/.test(pattern)) return "text()";
  if (pattern && minLength === 0 && maxLength === undefined) return call("matching", pattern);
  if (pattern) return `text(${minLength}, ${maxLength ?? "Infinity"}, ${text(pattern)})`;
  return maxLength === undefined && minLength === 0 ? "text()" : `text(${minLength}, ${maxLength ?? "Infinity"})`;
}

const bounded = (type: string, { minimum, maximum }: Schema) =>
  `${type}(${minimum ?? "-Infinity"}, ${maximum ?? "Infinity"})`;

type Rule = Schema & {
  oneOf?: Schema[];
  if?: Schema;
  then?: Rule;
  dependentRequired?: Record<string, string[]>;
};

/** The rules of both bodies, and those of only one. */
function rulesOf({ json, form, input }: ClientOperation): [Rule[], Rule[], Rule[]] {
  const of = (schema: Schema | undefined) =>
    ((schema?.allOf ?? []) as Rule[]).filter((rule) => Object.keys(rule).length > 0 && !isLeftToServer(rule, input));
  if (!json || !form) return [of(json ?? form), [], []];
  const isIn = (rule: Rule, rules: Rule[]) => rules.some((other) => text(other) === text(rule));
  return [
    of(json).filter((rule) => isIn(rule, of(form))),
    of(json).filter((rule) => !isIn(rule, of(form))),
    of(form).filter((rule) => !isIn(rule, of(json))),
  ];
}

/**
 * A rule on the total length of several lists cannot be expressed in the schema, and the server refuses other values of
 * a constant as an unsupported parameter.
 */
function isLeftToServer(rule: Rule, { properties = {} }: Schema): boolean {
  const { anyOf, properties: own } = rule.then ?? rule;
  const isList = ({ required = [] }: Schema) => properties[required[0] ?? ""]?.type === "array";
  const isConstant = (each: Schema) => each.const !== undefined;
  return (anyOf?.every(isList) ?? false) || (own !== undefined && Object.values(own).every(isConstant));
}

const printRules = (rules: Rule[]) => (rules.length > 0 ? `[${rules.map(generateRule).join(", ")}]` : "");

function generateRule(rule: Rule): string {
  const { then, dependentRequired, properties, required } = rule;
  const firsts = (choices: Schema[]) => choices.map((choice) => choice.required?.[0]);
  if (rule.if && then) {
    const [[field, only] = ["", {} as Schema]] = Object.entries(rule.if.properties ?? {});
    return `ifEquals(${text(field)}, ${text(only.const)}, ${generateRule(then)})`;
  }
  if (rule.anyOf) return call("anyRequired", ...firsts(rule.anyOf));
  if (rule.oneOf) return call("exactlyOneRequired", ...firsts(rule.oneOf));
  if (dependentRequired) return call("allOrNone", ...Object.keys(dependentRequired));
  if (required) return call("allRequired", ...required);
  return call("within", properties);
}
