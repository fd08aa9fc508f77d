// Every bound in the generated contract, for every operation and kind of body: a value just inside is accepted, one
// just outside is rejected. Each request also has an unknown field, so that no run starts.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ApiResponse } from "../support/api-caller.ts";
import { type Body, fieldErrorsOf } from "./expectations.ts";
import { useOwnSuite } from "./suite.ts";

type Schema = {
  type?: string;
  format?: string;
  pattern?: string;
  writeOnly?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  default?: unknown;
};
type Kind = "json" | "form" | "query";
type Operation = { name: string; method: string; path: string; kind: Kind; schema: Schema; example: Body };
type Field = { path: string[]; schema: Schema; isRequired: boolean };
type Case = { operation: Operation; field: Field };

const contract = JSON.parse(readFileSync(new URL("../../../api/openapi.json", import.meta.url), "utf8"));
const NUMBER = ["integer", "number"];
const BOUNDS = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"] as const;
const SOME_ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
/** Sent as itself, because JSON.stringify cannot write it: it reads as Infinity. */
const ENDLESS = "1e999";

// Some requests are valid and act on the whole installation, such as pausing its work.
const suite = useOwnSuite();

function operationsOf(path: string, method: string, reported: any): Operation[] {
  const face = { name: reported.operationId as string, method: method.toUpperCase(), path };
  const content = reported.requestBody?.content ?? {};
  const example = content["application/json"]?.example ?? {};
  const inBody = (["json", "form"] as const).flatMap((kind) => {
    const schema = content[kind === "json" ? "application/json" : "multipart/form-data"]?.schema;
    return schema ? [{ ...face, kind, schema, example }] : [];
  });
  const query = reported.parameters.filter((each: any) => each.in === "query");
  const properties = Object.fromEntries(query.map((each: any) => [each.name, each.schema]));
  const required = query.filter((each: any) => each.required).map((each: any) => each.name);
  return query.length > 0
    ? [...inBody, { ...face, kind: "query" as const, schema: { properties, required }, example: {} }]
    : inBody;
}

const operations = Object.entries<any>(contract.paths).flatMap(([path, methods]) =>
  Object.entries<any>(methods).flatMap(([method, reported]) => operationsOf(path, method, reported)),
);

/** The fields with a bound, inside lists too. */
function fieldsOf(schema: Schema, path: string[] = [], isRequired = false): Field[] {
  const own = BOUNDS.some((bound) => schema[bound] !== undefined) ? [{ path, schema, isRequired }] : [];
  const inner = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
      fieldsOf(each, [...path, name], schema.required?.includes(name) ?? false),
    ),
    ...(schema.items ? fieldsOf(schema.items, [...path, "0"]) : []),
    ...(schema.anyOf ?? []).flatMap((each) => fieldsOf(each, path)),
  ];
  return [...own, ...inner];
}

const cases: Case[] = operations.flatMap((operation) =>
  fieldsOf(operation.schema).map((field) => ({ operation, field })),
);

/** Text of so many code points that fits the field's pattern. */
const textOf = (schema: Schema, length: number, letter = "x") =>
  schema.pattern ? `https://example.com/`.padEnd(length, "x") : letter.repeat(length);

const ALIAS_PATTERN = "^[a-z0-9][a-z0-9.-]{0,63}$";

/** Anything that fits, `index` telling entries of a list apart. */
function fitting(schema: Schema, index = 0): unknown {
  if (schema.properties)
    return Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, fitting(each, index)]));
  if (schema.enum) return schema.enum[index % schema.enum.length];
  if (schema.anyOf) return fitting(schema.anyOf[0]!, index);
  if (schema.format === "uuid") return SOME_ID;
  if (NUMBER.includes(schema.type ?? "")) return schema.minimum ?? index;
  if (schema.pattern?.includes("@?")) return `tag${index}`;
  if (schema.pattern?.includes("(read|write")) return "images:write";
  if (schema.pattern === ALIAS_PATTERN) return `alias-${index}`;
  return schema.minLength === undefined || schema.pattern ? suite.imageUrl(`${index}.png`) : `entry ${index}`;
}

type Probe = { value: unknown; fits: boolean };

const probesOf = ({ schema }: Field, kind: Kind): Probe[] => [
  ...(NUMBER.includes(schema.type ?? "") ? numberProbes(schema, kind) : []),
  ...(schema.type === "string" ? textProbes(schema, kind) : []),
  ...(schema.type === "array" ? listProbes(schema) : []),
  ...(schema.maxProperties === undefined ? [] : keyProbes(schema.maxProperties, kind)),
];

function numberProbes({ type, minimum = 0, maximum = 0 }: Schema, kind: Kind): Probe[] {
  const step = type === "integer" ? 1 : 0.01;
  const errors = [
    minimum - step,
    maximum + step,
    ENDLESS,
    `-${ENDLESS}`,
    "many",
    ...(kind === "json" ? ["1", true] : []),
  ];
  return [
    ...[minimum, maximum].map((value) => ({ value, fits: true })),
    ...[...errors, ...(type === "integer" ? [minimum + 0.5] : [])].map((value) => ({ value, fits: false })),
  ];
}

function textProbes(schema: Schema, kind: Kind): Probe[] {
  const { minLength = 0, maxLength } = schema;
  const inside = schema.pattern ? [maxLength!] : [minLength, maxLength!];
  // A length is counted in code points, but that of a secret in bytes.
  const letters = schema.pattern || schema.writeOnly ? ["x"] : ["x", "𝒳"];
  return letters.flatMap((letter) => [
    ...inside.map((length) => ({ value: textOf(schema, length, letter), fits: true })),
    { value: textOf(schema, maxLength! + 1, letter), fits: false },
    ...(minLength > 0 ? [{ value: letter.repeat(minLength - 1), fits: false }] : []),
    ...(kind === "json"
      ? [
          { value: 12, fits: false },
          { value: [], fits: false },
        ]
      : []),
  ]);
}

function listProbes({ items, minItems = 0, maxItems = 0 }: Schema): Probe[] {
  const list = (length: number) => Array.from({ length }, (_, index) => fitting(items!, index));
  return [
    ...[minItems, maxItems].map((length) => ({ value: list(length), fits: true })),
    { value: list(maxItems + 1), fits: false },
    ...(minItems > 0 ? [{ value: list(minItems - 1), fits: false }] : []),
    { value: { not: "a list" }, fits: false },
  ];
}

function keyProbes(most: number, kind: Kind): Probe[] {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
  return [
    ...[0, most].map((count) => ({ value: keys(count), fits: true })),
    { value: keys(most + 1), fits: false },
    { value: kind === "json" ? "text" : "not JSON", fits: false },
    { value: ["a list"], fits: false },
  ];
}

/** Puts the value into its field: in a list it is the first, before as many others as the list needs. */
function placed({ operation: { schema }, field }: Case, value: unknown): Body {
  const [name, ...rest] = field.path as [string, ...string[]];
  if (rest.length === 0) return { [name]: value };
  expect(rest).toEqual(["0"]);
  const { items, minItems = 1 } = schema.properties![name]!;
  const others = Array.from({ length: Math.max(0, minItems - 1) }, (_, index) => fitting(items!, index + 1));
  return { [name]: [value, ...others] };
}

const written = (value: unknown) => JSON.stringify(value).replace(/"(-?1e999)"/g, "$1");

/** The operation's example, with images that are there. */
const exampleOf = ({ kind, example }: Operation): Body =>
  kind === "query" ? {} : JSON.parse(JSON.stringify(example).replaceAll("https://example.com/", suite.imageUrl("")));

async function send(operation: Operation, fields: Body): Promise<ApiResponse> {
  const { method, path, kind } = operation;
  const address = path.replace(/\{\w+\}/g, SOME_ID);
  const body: Body = { ...exampleOf(operation), ...fields, zzz: "no such field" };
  if (kind === "json") return suite.caller.send(method, address, { body: written(body) });
  const texts = Object.entries(body).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  if (kind === "query") return suite.caller.send(method, `${address}?${new URLSearchParams(texts)}`);
  return suite.caller.send(method, address, { body: suite.form(Object.fromEntries(texts)) });
}

/** Validation errors of a field or anything in it; the unknown field must always be reported too. */
async function validationCodes(operation: Operation, path: string[], fields: Body): Promise<string[]> {
  const response = await send(operation, fields);
  expect([response.status, response.body.code]).toEqual([400, "validation_error"]);
  expect(fieldErrorsOf(response)).toContainEqual(expect.objectContaining({ path: "/zzz", code: "unknown_field" }));
  const at = `/${path.join("/")}`;
  return fieldErrorsOf(response)
    .filter((error) => error.path === at || error.path.startsWith(`${at}/`))
    .map((error) => error.code);
}

const say = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 40)}… (${text.length} characters)` : text;
};

describe.each(operations.filter((operation) => fieldsOf(operation.schema).length > 0))(
  "$name by $kind",
  (operation) => {
    const own = cases.filter((each) => each.operation === operation);

    it.each(own.map((each) => [each.field.path.join("/"), each] as const))(
      "keeps to the bounds of %s",
      async (_path, each) => {
        const probes = probesOf(each.field, operation.kind);
        expect(probes.filter((probe) => probe.fits).length).toBeGreaterThan(0);
        expect(probes.filter((probe) => !probe.fits).length).toBeGreaterThan(0);
        for (const { value, fits } of probes) {
          const found = await validationCodes(operation, each.field.path, placed(each, value));
          expect([say(value), found.length > 0 ? "refused" : "taken"]).toEqual([
            say(value),
            fits ? "taken" : "refused",
          ]);
        }
      },
    );
  },
);

describe("bounds in the contract", () => {
  it("are tested for every operation that accepts a number, a list or text", () => {
    expect(new Set(cases.map((each) => each.operation.name)).size).toBeGreaterThanOrEqual(23);
    expect(cases.length).toBeGreaterThan(200);
  });

  it("are reported together with all missing required fields", async () => {
    const bounded = cases.filter(({ field }) => field.path.length === 1 && field.isRequired);
    expect(bounded.length).toBeGreaterThan(20);
    for (const { operation, field } of bounded) {
      const { [field.path[0]!]: _left, ...example } = operation.example;
      const without = { ...operation, example };
      expect([operation.name, await validationCodes(without, field.path, {})]).toEqual([operation.name, ["required"]]);
    }
  });

  it("do not make anything required that is not", async () => {
    const optional = cases.filter(
      ({ field, operation }) => !field.isRequired && !(field.path[0]! in operation.example),
    );
    expect(optional.length).toBeGreaterThan(150);
    for (const { operation, field } of optional) {
      // A rule may want one of several fields, which is not this one.
      const found = (await validationCodes(operation, field.path, {})).filter((code) => code !== "at_least_one_of");
      expect([operation.name, field.path, found]).toEqual([operation.name, field.path, []]);
    }
  });

  it.each<[string, string, number, number]>([
    ["images.generate", "width", 64, 2048],
    ["images.generate", "height", 64, 2048],
    ["images.generate", "strength_model", 0, 2],
    ["images.generate", "model_weight", 0, 1],
    ["images.generate", "guidance", 0, 100],
    ["images.generate", "lora_low_strength", 0, 2],
    ["images.generate", "lora_high_strength", 0, 2],
    ["images.generate", "batch_size", 1, 4],
    ["images.generate", "batch_count", 1, 4],
    ["images.generate", "steps", 1, 100],
    ["images.generate", "cfg_scale", 0, 30],
    ["images.generate", "upscale_factor", 1, 4],
    ["images.generate", "seed", 0, 4294967295],
    ["generateVideo", "duration", 1, 60],
    ["generateVideo", "fps", 1, 60],
    ["generateVideo", "motion_bucket_id", 1, 255],
    ["generateVideo", "cfg_scale", 0, 30],
    ["images.edit.vendora", "n", 1, 4],
    ["images.combine", "gap", 0, 512],
    ["images.combine", "opacity", 0, 1],
    ["runs.list", "limit", 1, 100],
  ])("are those of the document: %s %s is %d to %d", (name, field, minimum, maximum) => {
    const printed = cases.filter((each) => each.operation.name === name && each.field.path.join() === field);
    expect(printed.length).toBeGreaterThan(0);
    for (const each of printed) expect(each.field.schema).toMatchObject({ minimum, maximum });
  });

  it.each<[string, string, number, number]>([
    ["images.combine", "images", 2, 10],
    ["images.combine.nanobanana", "image_urls", 2, 10],
    ["images.combine.nanobanana", "run_ids", 2, 10],
    ["images.combine.gemini25", "image_urls", 2, 10],
    ["images.combine.gemini25", "run_ids", 2, 10],
  ])("are those of the document: %s %s has %d to %d entries", (name, field, minItems, maxItems) => {
    const printed = cases.filter((each) => each.operation.name === name && each.field.path.join() === field);
    expect(printed.length).toBeGreaterThan(0);
    for (const each of printed) expect(each.field.schema).toMatchObject({ minItems, maxItems });
  });
});
