import { describe, expect, it } from "vitest";
import { describeModelFields } from "./model-fields.ts";

type Schemas = Parameters<typeof describeModelFields>[0];

const describeOne = (schema: object, { root = {}, files = [] as Schemas["files"]["input"] } = {}) =>
  describeModelFields({
    input: { type: "object", properties: { field: schema }, ...root },
    files: { input: files, output: [] },
    order: ["field"],
  })[0];

describe("the fields of an imported model", () => {
  it("are in the model's order, with what they must be and their defaults", () => {
    const fields = describeModelFields({
      input: {
        type: "object",
        required: ["prompt"],
        properties: {
          generate_audio: { type: "boolean", default: true, title: "Generate Audio" },
          prompt: { type: "string", description: "What happens", examples: ["A boat lands"], maxLength: 200 },
          duration: { type: "string", enum: ["4s", "8s"], default: "8s" },
        },
      },
      files: { input: [], output: [] },
      order: ["prompt", "duration"],
    });
    expect(fields).toEqual([
      {
        ...{ name: "prompt", label: "Prompt", section: "main", widget: "text", isLong: true, maxLength: 200 },
        ...{ description: "What happens", example: "A boat lands", isRequired: true, marksRequired: true },
      },
      {
        ...{ name: "duration", label: "Duration", section: "main" },
        widget: "choice",
        options: ["4s", "8s"],
        default: "8s",
      },
      { name: "generate_audio", label: "Generate audio", section: "main", widget: "switch", default: true },
    ]);
  });

  it("have the title that the provider wrote, and none that a program made from the name", () => {
    expect(describeOne({ type: "string", title: "Voice of the speaker" })?.label).toBe("Voice of the speaker");
    expect(describeOne({ type: "string", title: "Field" })?.label).toBe("Field");
    const named = (name: string, kind: "image" | "audio" = "audio") =>
      describeModelFields({
        input: { properties: { [name]: { type: "array", items: { type: "string" } } } },
        files: { input: [{ pointer: `/${name}/*`, kind }], output: [] },
        order: [name],
      })[0]?.label;
    expect(named("image_urls", "image")).toBe("Images");
    expect(named("audio_urls")).toBe("Audio URLs");
  });

  it.each([
    [{ type: "string" }, { widget: "text" }],
    [
      { type: "string", maxLength: 2000 },
      { widget: "text", isLong: true },
    ],
    [
      { type: "integer", minimum: 1, maximum: 50 },
      { widget: "number", isInteger: true, minimum: 1, maximum: 50 },
    ],
    [
      { type: "integer", exclusiveMinimum: 0 },
      { widget: "number", minimum: 1 },
    ],
    [{ type: ["number", "null"] }, { widget: "number" }],
    [
      { type: "boolean", default: false },
      { widget: "switch", default: false },
    ],
    [{ type: "boolean" }, { widget: "choice", options: [true, false] }],
    [{ const: "one" }, { widget: "choice", options: ["one"] }],
    [{ enum: ["a", null] }, { widget: "choice", options: ["a"] }],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, { widget: "text" }],
    [{ anyOf: [{ enum: ["a"] }, { const: "b" }] }, { widget: "choice", options: ["a", "b"] }],
    [{ anyOf: [{ enum: ["a"] }, { type: "string" }] }, { widget: "text" }],
    [{ anyOf: [{ type: "integer" }, { type: "number" }] }, { widget: "number" }],
    [{ anyOf: [{ type: "string" }, { type: "array" }] }, { widget: "json" }],
    [
      { type: "object", additionalProperties: { type: "number" } },
      { widget: "json", isAnyJson: true },
    ],
    [{ type: "array", items: { type: "array", items: { type: "string" } } }, { widget: "json" }],
    [{}, { widget: "json" }],
  ])("%j is %j", (schema, expected) => {
    expect(describeOne(schema)).toMatchObject(expected);
  });

  it("take lists of texts and of groups", () => {
    const texts = describeOne({ type: "array", items: { type: "string" }, maxItems: 4 });
    expect(texts).toMatchObject({ widget: "list", maxItems: 4, items: [{ name: "", widget: "text" }] });
    const groups = describeOne({ type: "array", items: { type: "object", properties: { tag: { type: "string" } } } });
    expect(groups).toMatchObject({ widget: "list", items: [{ name: "tag", widget: "text" }] });
  });

  it("give a choice between named values and an object with fields", () => {
    const size = { type: "object", properties: { width: { type: "integer" }, height: { type: "integer" } } };
    const field = describeOne(
      { anyOf: [{ $ref: "#/$defs/Size" }, { type: "string", enum: ["auto", "square"] }], default: { width: 512 } },
      { root: { $defs: { Size: size } } },
    );
    expect(field).toMatchObject({ widget: "union", options: ["auto", "square"], default: { width: 512 } });
    expect(field?.items?.map(({ name }) => name)).toEqual(["width", "height"]);
  });

  it("are files where the model says so, also within lists of groups", () => {
    const at = (pointer: string, kind: "image" | "audio") => ({ files: [{ pointer, kind }] });
    expect(describeOne({ type: "string" }, at("/field", "image"))).toMatchObject({ widget: "image", accepts: "image" });
    expect(describeOne({ type: "string" }, at("/field", "audio"))).toMatchObject({ widget: "file", fileKind: "audio" });
    const texts = { type: "array", items: { type: "string" } };
    expect(describeOne(texts, at("/field/*", "image"))?.items?.[0]).toMatchObject({ name: "", widget: "image" });
    const groups = { type: "array", items: { type: "object", properties: { urls: texts } } };
    expect(describeOne(groups, at("/field/*/urls/*", "image"))?.items?.[0]).toMatchObject({
      ...{ name: "urls", widget: "list" },
      items: [{ widget: "image" }],
    });
  });

  it("end at a circle of references", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/Node" }, name: { type: "string" } } };
    const field = describeOne({ $ref: "#/$defs/Node" }, { root: { $defs: { Node: node } } });
    expect(JSON.stringify(field)).toContain('"widget":"json"');
    expect(describeOne({ $ref: "#/$defs/Self" }, { root: { $defs: { Self: { $ref: "#/$defs/Self" } } } })?.widget).toBe(
      "json",
    );
  });

  it("keep what stands beside a reference", () => {
    const root = { $defs: { Style: { type: "string", enum: ["none", "ink"], description: "An enumeration." } } };
    const field = describeOne({ $ref: "#/$defs/Style", default: "none", description: "The style" }, { root });
    expect(field).toMatchObject({ widget: "choice", default: "none", description: "The style" });
  });
});
