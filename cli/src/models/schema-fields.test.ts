import { expect, it } from "vitest";
import { describeValue, exampleCommand, renderModel } from "./render-model.ts";
import { listModelFields } from "./schema-fields.ts";

const MODEL = {
  ...{ name: "boat", model: "fal:acme/boat", provider: "fal", title: "Boat", category: "text-to-video" },
  ...{ media: ["video"], price: 1.2, schema_hash: "0123456789abcdef", refused_at: null, version: null, output: {} },
  input: {
    type: "object",
    required: ["prompt", "image_urls"],
    properties: {
      seed: { anyOf: [{ type: "integer", minimum: 0 }, { type: "null" }] },
      prompt: { type: "string", description: "What happens.\nIn the video." },
      duration: { $ref: "#/$defs/Duration", default: "8s" },
      generate_audio: { type: "boolean", default: true },
      image_size: { anyOf: [{ $ref: "#/$defs/Size" }, { type: "string", enum: ["square", "wide"] }], default: "wide" },
      image_urls: { type: "array", items: { type: "string" } },
      first_frame: { $ref: "#/$defs/File" },
      strength: { type: "number", minimum: 0, maximum: 1, default: 0.5 },
      loras: { type: "array", items: { type: "object", properties: { path: { type: "string" } } } },
      styles: { type: "array", items: { type: "string", enum: ["ink", "oil"] } },
      voice: { type: ["string", "null"] },
    },
    $defs: {
      Duration: { type: "string", enum: ["4s", "8s"] },
      Size: { type: "object", properties: { width: { type: "integer" } } },
      File: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
    },
  },
  files: {
    input: [
      { pointer: "/image_urls/*", kind: "image" },
      { pointer: "/first_frame/url", kind: "image" },
    ],
    output: [{ pointer: "/video/url", kind: "video" }],
  },
  order: ["prompt", "image_urls", "duration"],
  example: { prompt: "a boat lands" },
};

it("describes the fields of a schema in the order for forms", () => {
  const fields = listModelFields(MODEL);
  expect(fields.map(({ name }) => name).slice(0, 4)).toEqual(["prompt", "image_urls", "duration", "seed"]);
  const shown = Object.fromEntries(fields.map((field) => [field.name, describeValue(field)]));
  expect(shown).toEqual({
    prompt: "text",
    image_urls: "list of image files",
    duration: "4s, 8s (default 8s)",
    seed: "integer from 0",
    generate_audio: "true or false (default true)",
    image_size: "square, wide, JSON (default wide)",
    first_frame: "image file",
    strength: "number from 0 to 1 (default 0.5)",
    loras: "list of JSON",
    styles: "list of ink, oil",
    voice: "text",
  });
  expect(fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual(["prompt", "image_urls"]);
  expect(fields.filter(({ isNullable }) => isNullable).map(({ name }) => name)).toEqual(["seed", "voice"]);
});

it("finds the fields of parts, and requires only what all alternatives require", () => {
  const text = { type: "string" };
  const input = {
    allOf: [{ properties: { prompt: text }, required: ["prompt"] }, { $ref: "#/$defs/More" }],
    anyOf: [{ properties: { image: text }, required: ["image"] }, { properties: { mask: text } }],
    $defs: { More: { properties: { seed: { type: "integer" } } } },
  };
  const fields = listModelFields({ input, order: [], files: { input: [], output: [] } });
  expect(fields.map(({ name, isRequired = false }) => [name, isRequired])).toEqual([
    ["prompt", true],
    ["seed", false],
    ["image", false],
    ["mask", false],
  ]);
});

it("survives a schema that refers to itself", () => {
  const node = { type: "object", properties: { child: { $ref: "#/$defs/Node" } }, anyOf: [{ $ref: "#/$defs/Node" }] };
  const input = { $ref: "#/$defs/Node", $defs: { Node: node } };
  expect(listModelFields({ input, order: [], files: { input: [], output: [] } })).toMatchObject([{ name: "child" }]);
});

it.each([40, 80, 120])("shows a model in %i columns", (width) => {
  const lines = renderModel(MODEL, width);
  const isCommand = (line: string) => line.includes("gesso run");
  expect(lines.filter((line) => !isCommand(line) && line.length > width)).toEqual([]);
  expect(lines).toContain("  /video/url  video");
  expect(exampleCommand(MODEL)).toBe("gesso run boat --prompt 'a boat lands' --image-urls image.png");
});
