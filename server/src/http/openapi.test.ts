// The contract is a file that strangers' tools read: it must be whole by their rules, not only by ours.
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { faults } from "../faults.ts";
import { parseInput } from "../kit/parse.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { operations } from "../operations/all.ts";
import { generateOpenApi } from "./openapi.ts";

type Media = { schema: JsonObject; example?: JsonObject };
type Parameter = { name: string; in: string; required: boolean; schema: JsonObject };
type Printed = {
  operationId: string;
  summary: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, Media> }>;
};

const contract = JSON.parse(JSON.stringify(generateOpenApi())) as JsonObject;
const paths = contract.paths as Record<string, Record<string, Printed>>;
const schemas = (contract.components as { schemas: Record<string, JsonObject> }).schemas;
const printed = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

const refsIn = (value: unknown): string[] => {
  if (value === null || typeof value !== "object") return [];
  const own = (value as JsonObject).$ref;
  return [...(typeof own === "string" ? [own] : []), ...Object.values(value).flatMap(refsIn)];
};
const resolve = (ref: string) =>
  ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>(
      (value, part) => (value as JsonObject | undefined)?.[part.replace("~1", "/").replace("~0", "~")],
      contract,
    );

/** Schemas inside the document point at each other through the document, so it is compiled with them. */
const compile = (schema: JsonObject) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.compile({ ...schema, components: contract.components });
};

describe("the document", () => {
  it("is OpenAPI 3.1 with all that it must have", () => {
    expect(contract.openapi).toMatch(/^3\.1\.\d+$/);
    expect(contract.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(Object.keys(paths).every((path) => path.startsWith("/api/v1/"))).toBe(true);
  });

  it("is the same each time it is printed", () => {
    expect(JSON.stringify(generateOpenApi())).toBe(JSON.stringify(generateOpenApi()));
  });

  it("has every operation but the variants, each under its own name", () => {
    const own = operations.filter(({ variantOf }) => variantOf === undefined).map(({ name }) => name);
    expect(printed.map(({ operation }) => operation.operationId).sort()).toEqual(own.sort());
  });

  it("points only at what is in it", () => {
    expect(refsIn(contract).filter((ref) => !ref.startsWith("#/") || resolve(ref) === undefined)).toEqual([]);
  });

  it("has no shape that is nothing but a pointer to itself", () => {
    const hollow = Object.entries(schemas).filter(([name, schema]) => schema.$ref === `#/components/schemas/${name}`);
    expect(hollow.map(([name]) => name)).toEqual([]);
  });

  it("lists every error that there is", () => {
    expect(Object.keys(contract["x-errors"] as JsonObject)).toEqual(Object.keys(faults));
  });

  it("names in components only what its rules allow", () => {
    expect(Object.keys(schemas).filter((name) => !/^[A-Za-z0-9._-]+$/.test(name))).toEqual([]);
  });
});

describe.each(Object.entries(schemas))("the shape %s", (_, schema) => {
  it("is a JSON Schema", () => expect(compile(schema)).toBeTypeOf("function"));
});

describe.each(printed.map((each) => [each.operation.operationId, each] as const))("%s", (_, { path, operation }) => {
  const inPath = operation.parameters.filter((parameter) => parameter.in === "path");

  it("declares each part of its path, once and as required", () => {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(inPath.map(({ name }) => name)).toEqual(wanted);
    expect(inPath.every(({ required }) => required)).toBe(true);
  });

  it("has parameters, bodies and answers that are JSON Schemas", () => {
    const bodies = Object.values(operation.requestBody?.content ?? {});
    const answers = Object.values(operation.responses).flatMap(({ content }) => Object.values(content ?? {}));
    for (const { schema } of [...operation.parameters, ...bodies, ...answers]) {
      expect(compile(schema)).toBeTypeOf("function");
    }
  });

  it("says what each answer means", () => {
    const mute = Object.values(operation.responses).filter(({ description, $ref }) => !description && !$ref);
    expect(mute).toEqual([]);
    expect(Object.keys(operation.responses)).toContain("default");
  });

  it("shows an example that its own schema takes", () => {
    for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) {
      if (example) expect(compile(schema)(example)).toBe(true);
    }
  });
});

describe("images.generate", () => {
  const operation = operations.find(({ name }) => name === "images.generate")!;
  const body = paths["/api/v1/runs/generate"]!.post!.requestBody!.content["application/json"]!;
  const schema = compile(body.schema);
  const id = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

  // What a client can check before it sends must be what the server checks after.
  it.each<[JsonObject, boolean]>([
    [{ prompt: "a" }, true],
    [{}, false],
    [{ prompt: "a", colour: "red" }, false],
    [{ prompt: "a", width: 63 }, false],
    [{ prompt: "a", seed: 4294967295 }, true],
    [{ prompt: "a", model_type: "vendorb-imagen4" }, false],
    [{ prompt: "a", model_type: "vendorb-imagen4", aspect_ratio: "1:1" }, true],
    [{ prompt: "a", model_type: "flux-kontext-max", aspect_ratio: "7:3" }, false],
    [{ prompt: "a", model_type: "wan-image-2.1", model_id: id, width: 64, height: 64, batch_size: 3 }, false],
    [{ prompt: "a", model_type: "wan-image-2.1", model_id: id, width: 64, height: 64, batch_size: 2 }, true],
    [{ prompt: "a", model_type: "gemini-2.5", run_ids: [id] }, false],
    [{ prompt: "a", model_type: "gemini-2.5", run_ids: [id, id] }, true],
    [{ prompt: "a", lora_low_name: "x" }, false],
    [{ prompt: "a", metadata: { a: 1 }, sync: true }, true],
  ])("%j: contract and server agree that it is taken or not (%s)", (input, isTaken) => {
    const takes = () => {
      try {
        return Boolean(parseInput(operation, input));
      } catch {
        return false;
      }
    };
    expect([schema(input), takes()]).toEqual([isTaken, isTaken]);
  });
});
