// Hostile schemas: each is refused fast, by its reason.
import { expect, test } from "vitest";
import { falDocument } from "../../test/model-schemas/documents.ts";
import { importModel } from "./import-model.ts";
import { compilePattern } from "./patterns.ts";
import { createInputValidator } from "./validate-input.ts";

type Schema = Record<string, unknown>;
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const field = (schema: unknown, definitions: Record<string, Schema> = {}) =>
  falDocument("acme/a", { properties: { field: schema } }, { definitions });
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const fields = (count: number) => Object.fromEntries(times(count, (i) => [`p${i}`, { type: "string" }]));
const nest = (levels: number, schema: Schema): Schema => {
  let nested = schema;
  for (let level = 0; level < levels; level++) nested = { properties: { a: nested } };
  return nested;
};
const double = (count: number, last: Schema): Record<string, Schema> =>
  Object.fromEntries(
    times(count + 1, (i) => [`D${i}`, i === count ? last : { anyOf: [ref(`D${i + 1}`), ref(`D${i + 1}`)] }]),
  );
const MAX_MILLISECONDS = 1_000;

const HOSTILE: [name: string, document: unknown, reason: string][] = [
  ["5 MB of text", field({ description: "x".repeat(5e6) }), "more than 1048576 bytes"],
  ["5 MB of values", field({ enum: times(500_000, (i) => `value-${i}`) }), "more than 1048576 bytes"],
  ["300 kB of text", field({ description: "x".repeat(3e5) }), "more than 262144 bytes"],
  ["a reference to itself", field(ref("A"), { A: ref("A") }), "leads to itself"],
  ["a circle of references", field(ref("A"), { A: ref("B"), B: ref("A") }), "leads to itself"],
  ["an alternative to itself", field(ref("A"), { A: { anyOf: [ref("A"), { type: "string" }] } }), "leads to itself"],
  ["references that double", field(ref("D0"), double(24, { type: "string" })), "references"],
  ["parts that double", field({ allOf: [ref("D0"), ref("D1")] }, double(24, { type: "string" })), "references"],
  [
    "alternatives that double with each level of the input",
    field(ref("A"), { A: { anyOf: times(4, (i) => ({ properties: { [`a${i}`]: ref("A"), b: ref("A") } })) } }),
    "10000 nodes",
  ],
  ["10,000 properties", falDocument("acme/a", { properties: fields(10_000) }), "1000 properties"],
  ["5,000 levels", field(nest(5_000, {})), "more than 100 levels"],
  ["40 levels", field(nest(40, {})), "more than 32 levels"],
  [
    "a chain of 1,000 references",
    field(ref("C0"), Object.fromEntries(times(1_000, (i) => [`C${i}`, i === 999 ? {} : ref(`C${i + 1}`)]))),
    "in each other",
  ],
  ["6,000 values", field({ enum: times(6_000, String) }), "5000 values"],
  ["100 patterns", field({ patternProperties: Object.fromEntries(times(100, (i) => [`^a${i}`, {}])) }), "50 patterns"],
  ["a long pattern", field({ type: "string", pattern: "a".repeat(300) }), "more than 256 characters"],
  ["a pattern that RE2 does not know", field({ type: "string", pattern: "(?=a)b" }), "The pattern (?=a)b is"],
  ["a pattern that is too large", field({ type: "string", pattern: "((a{100}){100}){100}" }), "The pattern ((a{100})"],
  ["another document", field({ $ref: "http://169.254.169.254/" }), "outside its definitions: http://169.254"],
  ["the whole document", field({ $ref: "#" }), "outside its definitions"],
  ["no definition", field(ref("Absent")), "leads nowhere"],
  ["$dynamicRef", field({ $dynamicRef: "#node" }), "$dynamicRef, which is not supported"],
  ["$anchor", field({ $anchor: "node" }), "$anchor, which is not supported"],
  ["a field __proto__", field({ properties: JSON.parse('{"__proto__": {}}') }), "name __proto__"],
  ["$id", field({ $id: "https://example.com/" }), "$id, which is not supported"],
];

test.each(HOSTILE)("a document with %s is refused within a second of computing", (_, document, reason) => {
  const before = process.cpuUsage();
  const imported = importModel("fal", "acme/a", document);
  expect("refused" in imported && imported.refused).toContain(reason);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(MAX_MILLISECONDS);
});

test("names of members of every object are fields and definitions like others", () => {
  const definition = { type: "object", required: ["toString"], properties: { toString: { type: "string" } } };
  const imported = importModel("fal", "acme/a", field(ref("constructor"), { constructor: definition }));
  if ("refused" in imported) throw new Error(imported.refused);
  const { findIssues } = createInputValidator();
  const codesOf = (input: Schema) => findIssues(imported.model, { field: input }).map(({ code }) => code);
  expect(codesOf({ toString: "x" })).toEqual([]);
  expect(codesOf({})).toEqual(["required"]);
  expect(codesOf({ toString: "x", valueOf: 1 })).toEqual(["unknown_field"]);
  expect(codesOf(JSON.parse('{"toString": "x", "__proto__": {"polluted": true}}'))).toEqual(["unknown_field"]);
  expect(({} as Schema).polluted).toBeUndefined();
});

test("code in names and values is not run", () => {
  const code = '"+process.exit(7)+"';
  const document = falDocument("acme/a", {
    properties: { [code]: { type: "string", enum: [code] } },
    required: ["\u2028"],
  });
  const imported = importModel("fal", "acme/a", document);
  if ("refused" in imported) throw new Error(imported.refused);
  const issues = createInputValidator().findIssues(imported.model, { [code]: ["`$", "{process.exit(7)}`"].join("") });
  expect(issues.map((issue) => issue.code).toSorted()).toEqual(["required", "unknown_value"]);
});

test("a pattern that is slow in JavaScript is fast on a long text", () => {
  const started = performance.now();
  expect(compilePattern("^(a+)+$").test(`${"a".repeat(99_000)}!`)).toBe(false);
  expect(compilePattern("^(a+)+$").test("a".repeat(99_000))).toBe(true);
  expect(performance.now() - started).toBeLessThan(MAX_MILLISECONDS);
});

test("two patterns of one schema are not mixed up", () => {
  const document = falDocument("acme/a", {
    properties: { letters: { type: "string", pattern: "^[a-z]+$" }, digits: { type: "string", pattern: "^\\d+$" } },
  });
  const imported = importModel("fal", "acme/a", document);
  if ("refused" in imported) throw new Error(imported.refused);
  const { findIssues } = createInputValidator();
  expect(findIssues(imported.model, { letters: "abc", digits: "123" })).toEqual([]);
  expect(findIssues(imported.model, { letters: "123", digits: "abc" })).toEqual([
    { path: "/input/letters", code: "unknown_value", message: "Must match the pattern ^[a-z]+$." },
    { path: "/input/digits", code: "unknown_value", message: "Must match the pattern ^\\d+$." },
  ]);
});
