// The contract is read by tools that Gesso does not control, so it must be valid OpenAPI and JSON Schema.
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { Fault, faults } from "../faults/faults.ts";
import { operations } from "../operations/all.ts";
import { generateOpenApi } from "./openapi.ts";
import { parseInput } from "./parse.ts";
import type { JsonObject } from "./schemas/run.ts";

type Media = { schema: JsonObject; example?: JsonObject };
type Parameter = { name: string; in: string; required: boolean; schema: JsonObject };
type Printed = {
  operationId: string;
  summary: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, Media> }>;
};

const contract = JSON.parse(JSON.stringify(generateOpenApi(operations))) as JsonObject;
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

/** One compiler for all tests, which compiles each component once: schemas refer to components by name. */
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const COMPONENT = "#/components/schemas/";
const withNamedReferences = (schema: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(schema).replaceAll(`"$ref":"${COMPONENT}`, '"$ref":"component:'));
for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(withNamedReferences(schema), `component:${name}`);
const compile = (schema: JsonObject) => ajv.compile(withNamedReferences(schema));

describe("the document", () => {
  it("is valid OpenAPI 3.1", () => {
    expect(contract.openapi).toMatch(/^3\.1\.\d+$/);
    expect(contract.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(Object.keys(paths).every((path) => path.startsWith("/api/v1/"))).toBe(true);
  });

  it("is the same each time it is generated", () => {
    expect(JSON.stringify(generateOpenApi(operations))).toBe(JSON.stringify(generateOpenApi(operations)));
  });

  it("has every operation except the variants, each under its own name", () => {
    const own = operations.filter(({ variantOf }) => variantOf === undefined).map(({ name }) => name);
    expect(printed.map(({ operation }) => operation.operationId).sort()).toEqual(own.sort());
  });

  it("has no dangling references", () => {
    expect(refsIn(contract).filter((ref) => !ref.startsWith("#/") || resolve(ref) === undefined)).toEqual([]);
  });

  it("has no schema that is only a reference to itself", () => {
    const hollow = Object.entries(schemas).filter(([name, schema]) => schema.$ref === `#/components/schemas/${name}`);
    expect(hollow.map(([name]) => name)).toEqual([]);
  });

  it("lists every error code", () => {
    expect(Object.keys(contract["x-errors"] as JsonObject)).toEqual(Object.keys(faults));
  });

  it("has only allowed names in components", () => {
    expect(Object.keys(schemas).filter((name) => !/^[A-Za-z0-9._-]+$/.test(name))).toEqual([]);
  });
});

describe.each(Object.keys(schemas))("the schema %s", (name) => {
  it("is a JSON Schema", () => expect(ajv.getSchema(`component:${name}`)).toBeTypeOf("function"));
});

describe.each(printed.map((each) => [each.operation.operationId, each] as const))("%s", (_, { path, operation }) => {
  const inPath = operation.parameters.filter((parameter) => parameter.in === "path");

  it("declares each path parameter once and as required", () => {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(inPath.map(({ name }) => name)).toEqual(wanted);
    expect(inPath.every(({ required }) => required)).toBe(true);
  });

  it("has no path parameter in its body", () => {
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
      const named = [...Object.keys(schema.properties as JsonObject), ...((schema.required ?? []) as string[])];
      expect(named.filter((name) => inPath.some((parameter) => parameter.name === name))).toEqual([]);
    }
  });

  it("has parameters, bodies and responses that are JSON Schemas", () => {
    const bodies = Object.values(operation.requestBody?.content ?? {});
    const answers = Object.values(operation.responses).flatMap(({ content }) => Object.values(content ?? {}));
    for (const { schema } of [...operation.parameters, ...bodies, ...answers]) {
      expect(compile(schema)).toBeTypeOf("function");
    }
  });

  it("describes each response", () => {
    const mute = Object.values(operation.responses).filter(({ description, $ref }) => !description && !$ref);
    expect(mute).toEqual([]);
    expect(Object.keys(operation.responses)).toContain("default");
  });

  it("describes its errors as the server renders them", () => {
    const fault = { ...new Fault("validation_error", { errors: [] }).body() };
    const { renderError } = operations.find(({ name }) => name === operation.operationId)!;
    for (const status of ["400", "401", "404", "default"]) {
      const response = operation.responses[status]!;
      const { content } = (response.$ref ? resolve(response.$ref) : response) as typeof response;
      expect(compile(content!["application/json"]!.schema)(renderError?.(fault) ?? fault)).toBe(true);
    }
  });

  it("has an example that is valid for its own schema", () => {
    for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) {
      if (example) expect(compile(schema)(example)).toBe(true);
    }
  });
});

describe("an image in a JSON body", () => {
  const operation = operations.find(({ name }) => name === "images.combine")!;
  const [json, form] = ["application/json", "multipart/form-data"].map((type) =>
    compile(paths["/api/v1/combine"]!.post!.requestBody!.content[type]!.schema),
  );

  it.each([
    ["https://example.com/a.png", true],
    ["HTTP://example.com/a", true],
    ["01990C3E-2f00-7000-8000-6f0c1a2b3c4d", true],
    ["asset:01990c3e-2f00-7000-8000-6f0c1a2b3c4d", true],
    ["data:image/png;base64,iVBORw0KGgoAAAA=", true],
    ["DATA:IMAGE/WEBP;BASE64,AAAA", true],
    ["iVBORw0KGgoAAAANSUhEUg==", true],
    ["/9j/4AAQSkZJRg", true],
    ["UklGRiQAAABXRUJQ", true],
    ["", false],
    ["desk.png", false],
    ["ftp://example.com/a.png", false],
    ["https://", false],
    ["https://example.com/a b", false],
    ["data:image/gif;base64,R0lGODlh", false],
    ["data:text/plain;base64,iVBORw0KGgo", false],
    ["x01990c3e-2f00-7000-8000-6f0c1a2b3c4d", false],
    ["01990c3e-2f00-7000-8000-6f0c1a2b3c4d0", false],
    ["asset:../../etc/passwd", false],
    ["iVBORw0KGgo!", false],
    ["R0lGODlhAQABAAAAACw=", false],
  ])("is %s: contract and server agree on its validity (%s)", (image, isTaken) => {
    const input = { images: [image, image], mode: "side-by-side" };
    const takes = () => {
      try {
        return Boolean(parseInput(operation, input));
      } catch {
        return false;
      }
    };
    // In a form, the value can be a file.
    expect([json!(input), takes(), form!(input)]).toEqual([isTaken, isTaken, true]);
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
  ])("%j: contract and server agree on its validity (%s)", (input, isTaken) => {
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
