// What the client knows of an operation at run time, in the words of `sdk/src/fields.ts`: only what a client can use.
// It stands inside of the function that makes a group, so that a group that nobody asks for costs nothing.
import type { Schema, Verb } from "./client-contract.ts";

const text = (value: unknown) => JSON.stringify(value);
const call = (word: string, ...values: unknown[]) => `${word}(${values.map(text).join(", ")})`;
const isName = (field: string) => /^[A-Za-z_$][\w$]*$/.test(field);

export function printOperation(verb: Verb): string {
  const { json, form, operation } = verb;
  const [both, jsonRules, formRules] = rulesOf(verb);
  const presets = jsonRules
    .flatMap((rule) => rule.required ?? [])
    .flatMap((field) => {
      const preset = verb.input.properties?.[field]?.default;
      return preset === undefined ? [] : [[field, preset]];
    });
  const bodies = [json && "json", form && "form"].filter(Boolean).join(" ");
  const { properties = {}, required = [] } = verb.input;
  const lines = {
    name: text(verb.name),
    method: verb.method === "POST" ? "" : text(verb.method),
    path: text(verb.path),
    bodies: bodies && text(bodies),
    creates: operation.parameters?.some(({ name }) => name === "Idempotency-Key") ? "true" : "",
    binary: operation.responses["200"]?.content?.["image/png"] ? "true" : "",
    waits: properties.sync?.default === true ? "true" : "",
    sets: verb.sets ? text(verb.sets) : "",
    presets: presets.length > 0 ? text(Object.fromEntries(presets)) : "",
    required: required.length > 0 ? text(required) : "",
    fields: printFields(properties, verb.ofRun),
    rules: printRules(both),
    jsonRules: printRules(jsonRules),
    formRules: printRules(formRules),
  };
  const told = Object.entries(lines).filter(([, value]) => value !== "");
  return `{\n${told.map(([name, value]) => `  ${name}: ${value},`).join("\n")}\n}`;
}

/** The declaration that the operations of a group refer to as `run`. */
export function printRunFields(verbs: Verb[]): string {
  const verb = verbs.find(({ ofRun }) => ofRun.length > 0);
  if (!verb) return "";
  const fields = Object.entries(verb.input.properties ?? {}).filter(([field]) => verb.ofRun.includes(field));
  return `const run = ${printFields(Object.fromEntries(fields))};\n`;
}

function printFields(properties: Record<string, Schema>, ofRun: string[] = []): string {
  const own = Object.entries(properties).filter(([field]) => !ofRun.includes(field));
  const parts = own.map(([field, schema]) => `${isName(field) ? field : text(field)}: ${printField(schema)}`);
  return `{ ${[...parts, ...(ofRun.length > 0 ? ["...run"] : [])].join(", ")} }`;
}

/** Words and defaults are left out; times and addresses are left to the server. */
function printField(schema: Schema): string {
  if (schema.format === "binary") return "file";
  if (schema["x-widget"] === "image") return schema["x-inline"] ? "inline" : "address";
  const plain = printPlain(schema);
  return schema["x-body"] ? `{ ...${plain}, form: true }` : plain;
}

function printPlain(schema: Schema): string {
  const { type, enum: known, minLength = 0, maxLength, format, minItems = 0, maxItems, items, properties } = schema;
  if (schema.anyOf) return `{ anyOf: [${schema.anyOf.map(printField).join(", ")}] }`;
  if (schema.const !== undefined) return text({ type, const: schema.const });
  if (known) return type === "string" ? call("words", ...known) : text({ type, enum: known });
  if (format === "uuid" || type === "boolean") return format ?? String(type);
  if (type === "integer" || type === "number") return bounded(type, schema);
  if (type === "array") return `list(${printField(items ?? {})}, ${minItems}, ${maxItems ?? "Infinity"})`;
  if (type === "object" && properties) {
    return `{ type: "object", required: ${text(schema.required ?? [])}, properties: ${printFields(properties)} }`;
  }
  if (type === "object") return "object";
  if (type !== "string") return text({ type });
  // The length of a secret is counted in bytes, which only the server does.
  if (schema.writeOnly) return "text()";
  const pattern = format ? undefined : schema.pattern;
  if (pattern && minLength === 0 && maxLength === undefined) return call("like", pattern);
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

/** The rules of both bodies, and what only one of them asks. */
function rulesOf({ json, form }: Verb): [Rule[], Rule[], Rule[]] {
  const of = (schema: Schema | undefined) =>
    ((schema?.allOf ?? []) as Rule[]).filter((rule) => Object.keys(rule).length > 0);
  if (!json || !form) return [of(json ?? form), [], []];
  const isIn = (rule: Rule, rules: Rule[]) => rules.some((other) => text(other) === text(rule));
  return [
    of(json).filter((rule) => isIn(rule, of(form))),
    of(json).filter((rule) => !isIn(rule, of(form))),
    of(form).filter((rule) => !isIn(rule, of(json))),
  ];
}

const printRules = (rules: Rule[]) => (rules.length > 0 ? `[${rules.map(printRule).join(", ")}]` : "");

function printRule(rule: Rule): string {
  const { then, dependentRequired, properties, required } = rule;
  const firsts = (choices: Schema[]) => choices.map((choice) => choice.required?.[0]);
  if (rule.if && then) {
    const [[field, only] = ["", {} as Schema]] = Object.entries(rule.if.properties ?? {});
    return `when(${text(field)}, ${text(only.const)}, ${printRule(then)})`;
  }
  if (rule.anyOf) return call("some", ...firsts(rule.anyOf));
  if (rule.oneOf) return call("one", ...firsts(rule.oneOf));
  if (dependentRequired) return call("together", ...Object.keys(dependentRequired));
  if (required) return call("needs", ...required);
  return text({ properties });
}
