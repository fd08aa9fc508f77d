// A rule has a check, a description and a JSON Schema. The three must agree.
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allOrNone,
  atLeastOne,
  atMostOne,
  equalIfBoth,
  exactlyOne,
  type FieldRule,
  fixedWhen,
  itemsBetweenWhen,
  onlyInForm,
  onlyInJson,
  required,
  requiredWhen,
  totalItemsBetween,
  totalItemsBetweenWhen,
  valuesWhen,
} from "./rules.ts";
import type { JsonObject } from "./schemas/run.ts";

const accepts = (rule: FieldRule) => new Ajv2020({ strict: false }).compile(rule.schema);
const codes = (rule: FieldRule, input: JsonObject) => rule.check(input).map(({ path, code }) => `${path} ${code}`);

const fields = ["a", "b", "c"];
const model = fc.constantFrom("plain", "special");
const someOf = (values: Record<string, fc.Arbitrary<unknown>>) => fc.record(values, { requiredKeys: [] });
const three = someOf({ a: fc.string(), b: fc.integer(), c: fc.boolean(), model });
const list = fc.array(fc.string(), { maxLength: 6 });

/** Everything that the validator takes the schema takes, and the other way round. */
const agree = (rule: FieldRule, inputs: fc.Arbitrary<JsonObject>) => {
  const schema = accepts(rule);
  fc.assert(
    fc.property(inputs, (input) => schema(input) === (rule.check(input).length === 0)),
    { seed: 7, numRuns: 500 },
  );
};

describe("exactlyOne", () => {
  const rule = exactlyOne(...fields);
  it("accepts one", () => expect(codes(rule, { b: 0 })).toEqual([]));
  it.each([{}, { a: 1, b: 2 }, { a: null }])("refuses %j", (input) =>
    expect(codes(rule, input)).toEqual(["/a exactly_one_of"]),
  );
  it("agrees with its schema", () => agree(rule, three));
});

describe("atLeastOne", () => {
  const rule = atLeastOne(...fields);
  it.each([{ a: "" }, { a: 1, b: 2 }])("accepts %j", (input) => expect(codes(rule, input)).toEqual([]));
  it("refuses none", () => expect(codes(rule, { d: 1 })).toEqual(["/a at_least_one_of"]));
  it("agrees with its schema", () => agree(rule, three));
});

describe("atMostOne", () => {
  const rule = atMostOne(...fields);
  it.each([{}, { b: 0 }, { a: null, b: 1 }])("accepts %j", (input) => expect(codes(rule, input)).toEqual([]));
  it("refuses two, and names the second", () => expect(codes(rule, { a: 1, c: false })).toEqual(["/c at_most_one_of"]));
});

describe("together", () => {
  const rule = allOrNone("lora_pair_required", ...fields);
  it.each([{}, { a: 1, b: 2, c: 3 }])("accepts %j", (input) => expect(codes(rule, input)).toEqual([]));
  it("names each missing field, with its own code", () =>
    expect(codes(rule, { b: 1 })).toEqual(["/a lora_pair_required", "/c lora_pair_required"]));
  it("agrees with its schema", () => agree(rule, three));
});

describe("requiredWhen", () => {
  const rule = requiredWhen("model", "special", ["a", "aspect_ratio", "model_id", "lora_low_name"]);
  it("requires nothing in other cases", () => expect(codes(rule, { model: "plain" })).toEqual([]));
  it("accepts all of them", () =>
    expect(codes(rule, { model: "special", a: 1, aspect_ratio: "1:1", model_id: "x", lora_low_name: "y" })).toEqual(
      [],
    ));
  it("has its own code for some missing fields", () =>
    expect(codes(rule, { model: "special" })).toEqual([
      "/a required",
      "/aspect_ratio aspect_ratio_required",
      "/model_id model_id_required",
      "/lora_low_name lora_pair_required",
    ]));
  it("agrees with its schema", () => agree(requiredWhen("model", "special", ["a", "b"]), three));
});

describe("valuesWhen", () => {
  const rule = valuesWhen("model", "special", "a", ["1:1", "16:9"]);
  it.each([{ model: "special", a: "16:9" }, { model: "special" }, { model: "plain", a: "7:3" }])(
    "accepts %j",
    (input) => expect(codes(rule, input)).toEqual([]),
  );
  it("refuses another value", () => expect(codes(rule, { model: "special", a: "7:3" })).toEqual(["/a unknown_value"]));
  it("agrees with its schema", () => agree(rule, someOf({ model, a: fc.constantFrom("1:1", "16:9", "7:3", "") })));
});

describe("fixedWhen", () => {
  const rule = fixedWhen("model", "special", "a", 2);
  it.each([{ model: "special", a: 2 }, { model: "special" }, { model: "plain", a: 3 }])("accepts %j", (input) =>
    expect(codes(rule, input)).toEqual([]),
  );
  it("refuses another value as unsupported", () =>
    expect(codes(rule, { model: "special", a: 1 })).toEqual(["/a unsupported_parameter"]));
  it("agrees with its schema", () => agree(rule, someOf({ model, a: fc.integer({ min: 0, max: 4 }) })));
});

describe("lengthWhen", () => {
  const rule = itemsBetweenWhen("model", "special", ["a", "b"], [2, 3]);
  it.each([
    { model: "special", a: ["x", "y"], b: ["x", "y", "z"] },
    { model: "special" },
    { model: "plain", a: ["x"] },
  ])("accepts %j", (input) => expect(codes(rule, input)).toEqual([]));
  it("reports for each list whether it is too short or too long", () =>
    expect(codes(rule, { model: "special", a: ["x"], b: ["1", "2", "3", "4"] })).toEqual([
      "/a too_few_items",
      "/b too_many_items",
    ]));
  it("agrees with its schema", () => agree(rule, someOf({ model, a: list, b: list })));
});

describe("sumWhen", () => {
  const rule = totalItemsBetweenWhen("model", "special", ["a", "b"], [2, 4]);
  it.each([
    { model: "special", a: ["1"], b: ["2"] },
    { model: "special", b: ["1", "2", "3", "4"] },
    { model: "plain" },
  ])("accepts %j", (input) => expect(codes(rule, input)).toEqual([]));
  it.each([
    [{ model: "special" }, "/a too_few_items"],
    [{ model: "special", a: ["1"] }, "/a too_few_items"],
    [{ model: "special", a: ["1", "2", "3"], b: ["4", "5"] }, "/a too_many_items"],
  ])("refuses %j", (input, expected) => expect(codes(rule, input)).toEqual([expected]));

  // JSON Schema cannot add, so the schema is only the wider of the two.
  it("never refuses in its schema what the rule accepts", () => {
    const schema = accepts(rule);
    const inputs = someOf({ model, a: list, b: list });
    const holds = fc.property(inputs, (input) => rule.check(input).length > 0 || schema(input));
    fc.assert(holds, { seed: 7, numRuns: 500 });
  });
});

describe("sumOf", () => {
  const rule = totalItemsBetween(["a", "b"], [2, 3]);
  it.each<[JsonObject, string[]]>([
    [{}, ["/a too_few_items"]],
    [{ a: ["1"], b: ["2"] }, []],
    [{ a: ["1", "2"], b: ["3", "4"] }, ["/a too_many_items"]],
  ])("responds to %j with %j", (input, expected) => expect(codes(rule, input)).toEqual(expected));
});

describe("sameIfBoth", () => {
  const rule = equalIfBoth("new", "old");
  it("accepts one, or two equal ones", () => {
    for (const input of [{}, { new: "x" }, { old: "x" }, { new: "x", old: "x" }])
      expect(codes(rule, input)).toEqual([]);
  });
  it("refuses two values", () => expect(codes(rule, { new: "x", old: "y" })).toEqual(["/new exactly_one_of"]));
});

describe("a rule for one content type", () => {
  it("names it, and is the same rule otherwise", () => {
    expect(onlyInForm(required("a"))).toMatchObject({
      body: "form",
      description: "Form: Send a.",
      schema: { required: ["a"] },
    });
    expect(onlyInJson(required("a")).body).toBe("json");
    expect(codes(onlyInJson(required("a", "b")), { a: 1 })).toEqual(["/b required"]);
  });
});
