// Checks of all operations, derived from the registry: a new operation is covered without changes here.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { buildInputWithId, listIdFields } from "../../test/access/id-fields.ts";
import { builtInModelFacts } from "../../test/support/operation-plans.ts";
import { createFilePart } from "../contract/files.ts";
import type { Operation } from "../contract/operation.ts";
import { parseInput } from "../contract/parse.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { providers } from "../providers/all.ts";
import { listSources } from "../runs/sources/source-files.ts";
import { operations } from "./all.ts";

/** Works only where an operator has bound it to a provider of their own. */
const UNBOUND = ["vendorc"];

const own = operations.filter((operation) => operation.variantOf === undefined);
const planned = own.filter((operation) => operation.plan !== undefined);
const named = (list: Operation[]) => list.map((operation) => [operation.name, operation] as const);
const twice = (words: string[]) => words.filter((word, index) => words.indexOf(word) !== index);

type Property = JsonObject & { description?: string; format?: string; items?: Property };
const propertiesOf = (operation: Operation) =>
  (z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }).properties ?? {}) as Record<
    string,
    Property
  >;

/** Examples leave files out, because a page of documentation cannot hold one. */
const exampleOf = (operation: Operation): JsonObject => {
  const files = Object.entries(propertiesOf(operation)).filter(([, property]) => property.format === "binary");
  const file = createFilePart({ path: "/nowhere", filename: "a.png", size_bytes: 1, sha256: "0".repeat(64) });
  return { ...Object.fromEntries(files.map(([field]) => [field, file])), ...operation.example };
};

describe("the list of operations", () => {
  it("has no name twice, in any spelling that clients derive from it", () => {
    const spellings = operations.map(({ name }) => name.replaceAll(".", "_").toLowerCase());
    expect(twice(spellings)).toEqual([]);
  });

  it("has no path twice, except for variants of one operation", () => {
    expect(twice(own.map(({ http }) => `${http.method} ${http.path.replace(/:\w+/g, ":x")}`))).toEqual([]);
  });

  it("has variants only of operations that are in it", () => {
    const names = own.map(({ name }) => name);
    const orphans = operations.filter(({ variantOf }) => variantOf !== undefined && !names.includes(variantOf));
    expect(orphans.map(({ name }) => name)).toEqual([]);
  });
});

describe.each(named(operations))("%s", (name, operation) => {
  it("has a name that every client can spell", () => {
    expect(name).toMatch(/^[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*$/);
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
  });

  it("accepts its own example", () => {
    expect(parseInput(operation, exampleOf(operation)).input).toBeTypeOf("object");
  });

  it("describes every field, and every entry of a list", () => {
    const bare = Object.entries(propertiesOf(operation)).filter(
      ([, property]) => !property.description || (property.items && !property.items.description),
    );
    expect(bare.map(([field]) => field)).toEqual([]);
  });

  it("names in its path only required fields of its input", () => {
    const inPath = [...operation.http.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
    const required = (z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }).required ??
      []) as string[];
    expect(inPath.filter((field) => !required.includes(field))).toEqual([]);
  });

  it("creates runs, responds immediately, or streams events: exactly one of them", () => {
    const { plan, handle, events, repeatRun } = operation;
    expect([plan, handle, events, repeatRun].filter(Boolean)).toHaveLength(1);
    expect(operation.run_type === undefined).toBe(plan === undefined);
    expect(operation.renderResponse === undefined).toBe(plan === undefined && repeatRun === undefined);
  });

  it("warns about every deprecated field that it accepts", () => {
    const deprecated = Object.entries(propertiesOf(operation)).filter(([, property]) => property.deprecated);
    expect(Object.keys(operation.deprecated ?? {}).sort()).toEqual(deprecated.map(([field]) => field).sort());
  });
});

const RUN_ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

/** Every place that takes a run, other than as text in an image field: a field, or an object with `run_id`. */
const runFields = planned.flatMap((operation) =>
  listIdFields(operation)
    .filter(({ kind, path }) => kind === "run" && path.at(-1)!.endsWith("run_id"))
    .map((field) => [`${operation.name} ${field.path.join(".")}`, field] as const),
);

describe("a field that takes a run ID", () => {
  const countOf = (isOne: (path: string[]) => boolean) => runFields.filter(([, { path }]) => isOne(path)).length;

  it("is in most operations a field, an entry of a list or an image field", () => {
    expect(countOf((path) => path.length === 1)).toBeGreaterThanOrEqual(13);
    expect(countOf((path) => path.includes("0"))).toBeGreaterThanOrEqual(8);
    expect(countOf((path) => path.length === 2)).toBeGreaterThanOrEqual(20);
  });

  it("is there once in each operation, so that the names of its companions are the same everywhere", () => {
    for (const [name, operation] of named(planned)) {
      const own = runFields.filter(([, field]) => field.operation === operation && field.path.length === 1);
      expect([name, own.length <= 1]).toEqual([name, true]);
    }
  });

  it.each(runFields)("%s: selects an output and a frame, and the plan uses them", (_, field) => {
    const { operation, path } = field;
    const input = buildInputWithId(field, RUN_ID);
    const holder = path.slice(0, -1).reduce((value: any, part) => value[part], input) as JsonObject;
    Object.assign(holder, { output_index: 3, frame: "last" });
    const parsed = parseInput(operation, input, "json");
    const sources = operation.plan!(parsed.input, parsed.provided, builtInModelFacts).flatMap(listSources);
    expect(sources).toContainEqual({ run: RUN_ID, output: 3, frame: "last" });
  });
});

describe.each(named(planned))("the plan of %s", (_, operation) => {
  const plan = () => {
    const { input, provided } = parseInput(operation, exampleOf(operation));
    return operation.plan!(input, provided, builtInModelFacts);
  };

  it("is pure: the same input gives the same jobs, and the input is not changed", () => {
    const { input, provided } = parseInput(operation, exampleOf(operation));
    const before = structuredClone({ input, provided });
    expect(operation.plan!(input, provided, builtInModelFacts)).toEqual(
      operation.plan!(input, provided, builtInModelFacts),
    );
    expect({ input, provided }).toEqual(before);
  });

  it("can be stored as JSON without loss", () => {
    const jobs = plan();
    expect(jobs.length).toBeGreaterThan(0);
    expect(JSON.parse(JSON.stringify(jobs))).toEqual(jobs);
  });

  it("uses the result of a job only after that job", () => {
    for (const [n, job] of plan().entries()) {
      const sources = [...(job.images ?? []), ...(job.mask ? [job.mask] : [])];
      for (const source of sources) if ("job" in source) expect(source.job).toBeLessThan(n);
    }
  });

  it("needs only tasks that some provider offers, for each model", () => {
    const { anyOf = [] } = (propertiesOf(operation).model_type ?? {}) as { anyOf?: { enum?: string[] }[] };
    const choices = [undefined, ...anyOf.flatMap((each) => each.enum ?? [])];
    for (const model_type of choices.filter((model) => !UNBOUND.includes(model ?? ""))) {
      const { input, provided } = parseInput(operation, exampleOf(operation));
      const chosen = model_type === undefined ? input : { ...input, model_type };
      for (const job of operation.plan!(chosen, provided, builtInModelFacts)) {
        const isOffered = providers.some(
          ({ id, offers, anyModel }) =>
            offers.some((offer) => offer.task === job.task && offer.model === job.model) ||
            (job.task === "model.run" && anyModel !== undefined && job.model.startsWith(`${id}:`)),
        );
        expect([job.task, job.model, isOffered]).toEqual([job.task, job.model, true]);
      }
    }
  });
});
