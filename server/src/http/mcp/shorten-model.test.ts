import { expect, test } from "vitest";
import { shortenModel } from "./shorten-model.ts";

const LONG = "What this field does. ".repeat(20);
/** Fields with names of keywords stay fields. */
const field = (more: object = {}) => ({
  type: "string",
  description: LONG,
  title: "A field",
  examples: [LONG],
  ...more,
});
const MODEL = {
  name: "fal:acme/large",
  input: {
    type: "object",
    additionalProperties: false,
    required: ["description"],
    properties: {
      description: field({ default: "a" }),
      examples: { type: "array", items: { $ref: "#/$defs/title" } },
      voice: field({ enum: Array.from({ length: 100 }, (_, index) => `voice ${index}`) }),
    },
    $defs: { title: field({ maxLength: 9 }) },
  },
  output: { type: "object", properties: { text: field() } },
  example: { description: "a" },
};
const sizeOf = (value: unknown) => JSON.stringify(value).length;
const shortenTo = (size: number) => shortenModel(MODEL, size)!;

test("the schema of the result is left out first, and the input stays as it is", () => {
  const { output: _, ...rest } = MODEL;
  expect(shortenTo(sizeOf(MODEL) - 1)).toEqual({
    response: rest,
    omitted: "The schema of the result is left out.",
  });
});

test("a model that is still too long loses examples and long descriptions, then all texts, then long lists of values", () => {
  const steps: number[] = [];
  for (let size = sizeOf(MODEL) - 1; ; ) {
    const short = shortenModel(MODEL, size);
    if (!short) break;
    expect(sizeOf(short.response)).toBeLessThanOrEqual(size);
    steps.push(sizeOf(short.response));
    size = sizeOf(short.response) - 1;
  }
  expect(steps).toHaveLength(4);
});

test("fields, their types and bounds are in every form, also of fields that are called like keywords", () => {
  const shortest = shortenTo(700).response.input as typeof MODEL.input;
  expect(shortest).toEqual({
    type: "object",
    additionalProperties: false,
    required: ["description"],
    properties: {
      description: { type: "string" },
      examples: { type: "array", items: { $ref: "#/$defs/title" } },
      voice: { type: "string" },
    },
    $defs: { title: { type: "string", maxLength: 9 } },
  });
});
