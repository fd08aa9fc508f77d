import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Fault, type ValidationIssue } from "../faults/faults.ts";
import { createFilePart, fileField } from "./files.ts";
import { defineRun, defineStream, type Operation } from "./operation.ts";
import { parseInput } from "./parse.ts";
import { fixedWhen, onlyInForm, onlyInJson, required, requiredWhen } from "./rules.ts";
import type { JsonObject } from "./schemas/run.ts";

const operation = defineRun({
  name: "tests.paint",
  summary: "Paint",
  http: { method: "POST", path: "/paint", bodies: ["json"] },
  run_type: "test",
  input: z.object({
    title: z.string().max(5),
    model_type: z.enum(["small", "large"]).default("small"),
    width: z.int().min(64).max(128).optional(),
    count: z.number().default(1),
    tags: z.array(z.string()).min(2).max(3).optional(),
    source: z.uuid().optional(),
    shape: z
      .string()
      .regex(/^\d:\d$/)
      .optional(),
    mixed: z.union([z.string(), z.number()]).optional(),
    notes: z
      .record(z.string(), z.unknown())
      .refine((value) => Object.keys(value).length < 2, { params: { code: "too_many_items" }, error: "Too many." })
      .optional(),
    odd: z.custom<string>((value) => value === "odd", { error: "Odd only." }).optional(),
  }),
  rules: [requiredWhen("model_type", "large", ["width"]), fixedWhen("model_type", "large", "count", 2)],
  output: z.unknown(),
  example: { title: "sea" },
  translateDeprecated: ({ old_title, ...raw }) => (old_title === undefined ? raw : { title: old_title, ...raw }),
  fillDefaults: (input) => (input.model_type === "large" ? { ...input, count: 2 } : input),
  plan: () => [],
  renderResponse: (run) => run,
});

function refusalOf(raw: JsonObject, of: Operation = operation): { code: string; errors: ValidationIssue[] } {
  try {
    parseInput(of, raw);
  } catch (thrown) {
    const fault = thrown as Fault;
    expect(fault).toBeInstanceOf(Fault);
    return { code: fault.code, errors: fault.details.errors as ValidationIssue[] };
  }
  throw new Error("it was taken");
}

const issues = (raw: JsonObject) =>
  refusalOf({ title: "sea", ...raw }).errors.map(({ path, code }) => `${path} ${code}`);

describe("a valid input", () => {
  it("has its defaults filled in, beside the fields that the caller provided", () => {
    expect(parseInput(operation, { title: "sea", width: 64 })).toEqual({
      input: { title: "sea", model_type: "small", width: 64, count: 1 },
      provided: { title: "sea", width: 64 },
    });
  });

  it("gets the fixed values of its model, which do not count as provided", () => {
    const { input, provided } = parseInput(operation, { title: "sea", model_type: "large", width: 64 });
    expect(input).toMatchObject({ count: 2 });
    expect(provided).not.toHaveProperty("count");
  });

  it("can use deprecated field names", () => {
    expect(parseInput(operation, { old_title: "sky" }).provided).toEqual({ title: "sky" });
  });
});

describe("an invalid input has an error code", () => {
  it.each<[string, JsonObject, string]>([
    ["a field that is not there", { title: undefined }, "/title required"],
    ["a field that does not exist", { colour: "red" }, "/colour unknown_field"],
    ["text where a number belongs", { count: "many" }, "/count invalid_type"],
    ["null where a value belongs", { title: null }, "/title invalid_type"],
    ["a union that nothing fits", { mixed: true }, "/mixed invalid_type"],
    ["a check of our own without a word", { odd: "even" }, "/odd invalid_type"],
    ["a check of our own with one", { notes: { a: 1, b: 2 } }, "/notes too_many_items"],
    ["a value that is not in the list", { model_type: "huge" }, "/model_type unknown_value"],
    ["a number that is too small", { width: 63 }, "/width out_of_range"],
    ["a number that is too large", { width: 129 }, "/width out_of_range"],
    ["a fraction where a whole number belongs", { width: 64.5 }, "/width invalid_type"],
    ["text that is too long", { title: "seaside" }, "/title too_long"],
    ["a list that is too short", { tags: ["a"] }, "/tags too_few_items"],
    ["a list that is too long", { tags: ["a", "b", "c", "d"] }, "/tags too_many_items"],
    ["an entry of a list", { tags: ["a", 7] }, "/tags/1 invalid_type"],
    ["something that is no id", { source: "latest" }, "/source invalid_uuid"],
    ["text of the wrong form", { shape: "wide" }, "/shape unknown_value"],
    ["a rule between fields", { model_type: "large" }, "/width required"],
  ])("%s", (_, raw, expected) => expect(issues(raw)).toEqual([expected]));
});

describe("an error", () => {
  it("lists every validation error, of fields and of rules", () => {
    const { code, errors } = refusalOf({ title: 7, colour: "red", "a/b~c": 1, model_type: "large", count: 1 });
    expect(code).toBe("validation_error");
    expect(errors.map((issue) => `${issue.path} ${issue.code}`).sort()).toEqual([
      "/a~1b~0c unknown_field",
      "/colour unknown_field",
      "/count unknown_value",
      "/title invalid_type",
      "/width required",
    ]);
    expect(errors.every((issue) => issue.message.length > 0)).toBe(true);
  });

  it("does not repeat the error of a field as a broken rule", () => {
    expect(issues({ model_type: "large", width: 64, count: "two" })).toEqual(["/count invalid_type"]);
  });

  it("is unsupported_parameter only if nothing else is wrong", () => {
    const raw = { title: "sea", model_type: "large", width: 64, count: 3 };
    expect(refusalOf(raw).code).toBe("unsupported_parameter");
    expect(refusalOf({ ...raw, colour: "red" }).code).toBe("validation_error");
  });

  it("never contains what the caller sent", () => {
    const { errors } = refusalOf({ title: "my secret title", model_type: "secret", mixed: { secret: 1 } });
    expect(JSON.stringify(errors)).not.toContain("secret");
  });
});

describe("a hostile body", () => {
  const detailsOf = (raw: JsonObject) => {
    try {
      parseInput(operation, raw, "json");
    } catch (thrown) {
      return (thrown as Fault).details as { errors: ValidationIssue[]; error_count?: number };
    }
    throw new Error("The body was accepted.");
  };

  it("with 60,000 unknown fields is refused with 20 errors and their number, and costs little more for each field", () => {
    const refuse = (fields: number) => {
      const raw = Object.fromEntries(Array.from({ length: fields }, (_, index) => [`field_${index}`, index]));
      const before = process.cpuUsage();
      const { errors, error_count } = detailsOf(raw);
      expect([errors.length, error_count]).toEqual([20, fields + 1]);
      return process.cpuUsage(before).user / fields;
    };
    refuse(3000);
    const few = Math.max(...[1, 2, 3].map(() => refuse(3000)));
    // A cost that grows with the square of the fields would be twenty times as high for each.
    expect(refuse(60_000) / few).toBeLessThan(8);
  });

  it("with 18 names of 50 kB is refused with less than 10 kB", () => {
    const raw = Object.fromEntries(Array.from({ length: 18 }, (_, index) => ["f".repeat(50_000) + index, index]));
    const { errors, error_count } = detailsOf(raw);
    expect([errors.length, error_count]).toEqual([19, undefined]);
    expect(JSON.stringify(errors).length).toBeLessThan(10_000);
  });
});

describe("a field of one content type", () => {
  const { title, count } = operation.input.shape;
  const both = defineStream({
    name: "tests.both",
    summary: "Both",
    http: { method: "POST", path: "/both", bodies: ["json", "form"] },
    input: z.object({ title, count, image: fileField("A file").optional() } as {
      title: z.ZodString;
      image: z.ZodOptional;
    }),
    rules: [onlyInJson(required("count")), onlyInForm(required("image"))],
    output: z.unknown(),
    example: {},
    events: () => ({}),
  });
  const image = createFilePart({ path: "/a", filename: "a.png", size_bytes: 1, sha256: "" });
  const told = (raw: JsonObject, body?: "json" | "form") => {
    try {
      parseInput(both, raw, body);
    } catch (thrown) {
      return ((thrown as Fault).details.errors as ValidationIssue[]).map(({ path, code }) => `${path} ${code}`);
    }
    return [];
  };

  it("is not a field of the other", () => {
    expect(told({ title: "sea", count: 1, image: "x" }, "json")).toEqual(["/image unknown_field"]);
    expect(told({ title: "sea", image }, "form")).toEqual([]);
  });

  it("is not in a rule of the other", () => {
    expect(told({ title: "sea" }, "json")).toEqual(["/count required"]);
    expect(told({ title: "sea" }, "form")).toEqual(["/image required"]);
    expect(told({ title: "sea" })).toEqual([]);
  });
});
