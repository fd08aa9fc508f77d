import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createFilePart } from "../contract/files.ts";
import { imageField } from "../contract/image-fields.ts";
import { defineStream } from "../contract/operation.ts";
import { coerceTextFields } from "./coerce.ts";

const operation = defineStream({
  name: "tests.form",
  summary: "A form",
  http: { method: "POST", path: "/form", bodies: ["form"] },
  input: z.object({
    count: z.int().optional(),
    isOn: z.boolean().optional(),
    notes: z.record(z.string(), z.unknown()).optional(),
    images: z.array(imageField("An image")).optional(),
    tagged: z.array(z.strictObject({ tag: z.string() })).optional(),
    text: z.string().optional(),
  }),
  output: z.unknown(),
  example: {},
  events: () => ({}),
});
const file = createFilePart({ path: "/a", filename: "a.png", size_bytes: 1, sha256: "" });
const url = "https://example.com/a.png";

describe("a form field is parsed by its type", () => {
  it.each([
    [{ count: "3" }, { count: 3 }],
    [{ count: "three" }, { count: "three" }],
    [{ isOn: "true" }, { isOn: true }],
    [{ isOn: "yes" }, { isOn: "yes" }],
    [{ notes: '{"a":1}' }, { notes: { a: 1 } }],
    [{ notes: "{a" }, { notes: "{a" }],
    [{ text: "3" }, { text: "3" }],
  ])("%j", (raw, expected) => expect(coerceTextFields(operation, raw)).toEqual(expected));
});

describe("a list", () => {
  it("is one JSON text, a repeated name, or a single entry", () => {
    expect(coerceTextFields(operation, { images: `["${url}"]` })).toEqual({ images: [url] });
    expect(coerceTextFields(operation, { images: [url, url] })).toEqual({ images: [url, url] });
    expect(coerceTextFields(operation, { images: url })).toEqual({ images: [url] });
    expect(coerceTextFields(operation, { images: file }).images).toEqual([file]);
  });

  it("keeps files and texts in the order of the form", () => {
    expect(coerceTextFields(operation, { images: [url, file, `["${url}"]`] }).images).toEqual([url, file, url]);
  });

  it("of objects is JSON, and stays unchanged if it is not", () => {
    expect(coerceTextFields(operation, { tagged: '[{"tag":"a"}]' })).toEqual({ tagged: [{ tag: "a" }] });
    expect(coerceTextFields(operation, { tagged: "[broken" })).toEqual({ tagged: "[broken" });
    expect(coerceTextFields(operation, { images: "[broken" })).toEqual({ images: "[broken" });
  });
});
