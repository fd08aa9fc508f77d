// Checks what an adapter sends and what a fake vendor answers against the types of the vendor's own package. Every
// problem is a sentence with the vendor, the model and the field.
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { SendRequest } from "../../src/providers/provider.ts";
import { CONTRACTS, type Contract, findPackage } from "./contracts.ts";
import { createTypeReader, type Schema } from "./type-schemas.ts";

export type Exchange = { method: string; url: string; body: unknown; status: number; text: string };

const options = { strict: false, allErrors: true, logger: false, validateFormats: false } as const;
const ajv = new Ajv2020(options);
/** The values of a form are all text. */
const formAjv = new Ajv2020({ ...options, coerceTypes: true });

type Alternative = {
  /** The names of models that it is for. */
  models: unknown[] | undefined;
  /** Fields with one possible value, which tell alternatives apart. */
  constants: [name: string, value: unknown][];
  validate: ValidateFunction;
};
type Checker = Alternative[];

function compile(schema: Schema, { isForm = false, isRequest = false }): Checker {
  const { $defs = {}, anyOf, ...rest } = schema;
  const follow = (each: Schema): Schema => (each.$ref ? follow($defs[each.$ref.slice("#/$defs/".length)]) : each);
  const valuesOf = (each: Schema): unknown[] => {
    const { enum: values, anyOf: forms = [] } = follow(each);
    return values ?? forms.flatMap(valuesOf);
  };
  const alternatives: Schema[] = anyOf ? anyOf.map(follow) : [rest];
  return alternatives.map((each) => {
    const own = isRequest ? withKnownModels(each) : each;
    const models = own.properties?.model && isRequest ? valuesOf(own.properties.model) : [];
    return {
      models: models.length > 0 ? models : undefined,
      constants: Object.entries<Schema>(own.properties ?? {}).flatMap(([name, { enum: values }]) =>
        values?.length === 1 ? [[name, values[0]]] : [],
      ),
      validate: (isForm ? formAjv : ajv).compile({ ...own, $defs }),
    };
  });
}

/** Some types allow any text as a model beside the names that they list. A name that is not listed is likely wrong. */
function withKnownModels(schema: Schema): Schema {
  const listed = (schema.properties?.model?.anyOf as Schema[] | undefined)?.filter(({ type }) => type !== "string");
  if (!listed?.length) return schema;
  const model = listed.length === 1 ? listed[0]! : { anyOf: listed };
  return { ...schema, properties: { ...schema.properties, model } };
}

const modelOf = (value: unknown) => (value as { model?: unknown } | null)?.model;

/** What is wrong with a value; of several alternatives, with the one that it resembles most. */
function findProblems(checker: Checker, value: unknown): string[] {
  const model = modelOf(value);
  const known = checker.filter(({ models }) => model === undefined || models === undefined || models.includes(model));
  if (known.length === 0) return [`/model ${JSON.stringify(model)} is not in the package`];
  const fields = value as Record<string, unknown>;
  const same = known.filter(({ constants }) => constants.every(([name, constant]) => fields[name] === constant));
  const found = (same.length > 0 ? same : known).map(({ validate }) =>
    validate(value) ? [] : listCauses(validate.errors!).map((error) => describe(error, value)),
  );
  return found.reduce((least, each) => (each.length < least.length ? each : least));
}

/** Without what only follows from another error: that no alternative fits, or that the value is not null. */
function listCauses(errors: ErrorObject[]): ErrorObject[] {
  const causes = errors.filter(({ keyword, params }) => keyword !== "anyOf" && params.type !== "null");
  return causes.length > 0 ? causes : errors;
}

function describe({ instancePath, keyword, params, message }: ErrorObject, value: unknown): string {
  if (keyword === "additionalProperties") return `${instancePath}/${params.additionalProperty} is not a field`;
  if (keyword === "required") return `${instancePath}/${params.missingProperty} is missing`;
  const path = instancePath.split("/").slice(1);
  const given = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value);
  if (keyword === "enum")
    return `${instancePath} ${JSON.stringify(given)} is none of ${params.allowedValues.slice(0, 8).join(", ")}`;
  return `${instancePath} ${message}`;
}

/** The fields of a form: a repeated one is a list, and a file is a text in its place. */
function readForm(form: FormData): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name).map((value) => (typeof value === "string" ? value : `file ${value.type}`));
    fields[name.replace(/\[\]$/, "")] = name.endsWith("[]") ? values : values[0];
  }
  return fields;
}

/** A vendor writes null for what is absent, and its package says only that it can be absent. */
function withNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullable);
  if (typeof schema !== "object" || schema === null) return schema;
  const own = Object.fromEntries(
    Object.entries(schema).map(([key, each]) => [
      key,
      key === "enum" || key === "required" ? each : withNullable(each),
    ]),
  ) as Schema;
  if (own.type !== "object" || !own.properties) return own;
  const isRequired = new Set<string>(own.required ?? []);
  const properties = Object.entries(own.properties as Record<string, Schema>).map(([name, each]) => [
    name,
    isRequired.has(name) || Object.keys(each).length === 0 ? each : { anyOf: [each, { type: "null" }] },
  ]);
  return { ...own, properties: Object.fromEntries(properties) };
}

/** Remembers which job belongs to which model: a path of fal does not tell. `isChecked`: whether types exist. */
export function createExchangeChecker(provider: string, folder?: string) {
  const vendor = CONTRACTS[provider];
  const reader = vendor && createTypeReader(folder ?? findPackage(vendor.package));
  const checkers = new Map<string, Checker>();
  const endpoints = new Map<string, string>();
  const counts = { requests: 0, responses: 0 };

  function checkerOf(contract: Contract, side: "request" | "response", match: Record<string, string>, isForm = false) {
    const type = contract[side];
    if (!type || !reader) return undefined;
    const key = `${contract.path} ${side} ${match.endpoint ?? ""} ${isForm}`;
    const known = checkers.get(key);
    if (known) return known;
    const schema = typeof type === "function" ? type(reader.read, match) : reader.read(type);
    const isRequest = side === "request";
    const checker = compile(isRequest ? schema : (withNullable(schema) as Schema), { isForm, isRequest });
    checkers.set(key, checker);
    return checker;
  }

  /** What is wrong with an exchange. A response that is not a success is not described by the packages. */
  function check({ method, url, body, status, text }: Exchange): string[] {
    const path = new URL(url).pathname;
    const contract = vendor?.contracts.find((each) => each.method === method && each.path.test(path));
    if (!contract) return [];
    const id = path.split("/requests/")[1]?.split("/")[0];
    const named = contract.path.exec(path)?.groups;
    const match = { endpoint: named?.endpoint ?? endpoints.get(id ?? "") ?? "" };
    const isForm = body instanceof FormData;
    const fields = isForm ? readForm(body) : typeof body === "string" ? JSON.parse(body) : body;
    const about = `${provider} ${String(modelOf(fields) ?? (match.endpoint || path))}`;
    const request = checkerOf(contract, "request", match, isForm);
    const sent = request && fields !== undefined ? findProblems(request, fields) : [];
    if (request && fields !== undefined) counts.requests += 1;
    const problems = sent.map((problem) => `${about}: in the request, ${problem}`);
    if (status < 200 || status > 299 || text === "") return problems;
    const reply = JSON.parse(text) as unknown;
    const requestId = (reply as { request_id?: string }).request_id;
    if (named?.endpoint && requestId) endpoints.set(requestId, named.endpoint);
    const response = checkerOf(contract, "response", match);
    if (response) counts.responses += 1;
    const answered = response ? findProblems(response, reply) : [];
    return [...problems, ...answered.map((problem) => `${about}: in the response, ${problem}`)];
  }

  /** A way to send requests that collects what is wrong with them. */
  const watch =
    (send: SendRequest, problems: string[]): SendRequest =>
    async (url, request) => {
      const response = await send(url, request);
      problems.push(...check({ ...request, url, body: request.body, status: response.status, text: response.text }));
      return response;
    };

  return { check, watch, counts, isChecked: vendor !== undefined };
}
